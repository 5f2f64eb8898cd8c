"""Numerics: what divergences and accounting are computed with and no other library has.

Inversion of the transform of a privacy loss; privacy loss distributions (PLD) on a mesh, rounded
and composed; roots that end on the safe side, elementary functions less their tangents. Ground
floor, without public names: the rooms above import the files.
"""

__all__: list[str] = []
