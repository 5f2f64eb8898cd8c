"""Numerics: what the accounting computes with and no other library has.

Inversion of the transform of a privacy loss and its convolution on a mesh, roots that end on the
safe side, elementary functions less their tangents. Ground floor, without public names: the rooms
above import the files.
"""

__all__: list[str] = []
