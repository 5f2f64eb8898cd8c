/* The search page: sections ranked by MiniSearch, best first, with the words around the first hit.

   Accents and capitals do not matter, nor does the spelling of -ise. A section
   counts by the share of the words that it has, and more if its heading has them in order. */
(() => {
  "use strict";

  const STOP = new Set("a an and are as at be by can do does for from how i in is it my of on or that the this to what when who why with".split(" "));
  const SAME = { choose: "which", pick: "which", select: "which", find: "which" };
  const PER_PAGE = 3, SHOWN = 40, AROUND = 110;
  /* Lists and back matter come after the pages that explain. */
  const LISTS = /^(Exercises|Open ends|Errata and|What to remember|Where the papers err)/, BACK = /^book\/(?!index|reading)/, LEMMAS = /(lemmas|experiments)\.html/;

  function fold(text) {
    return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  }

  function stem(word) {
    const folded = globalThis.searchLetters[word] ?? fold(word);
    if (STOP.has(folded)) return null;
    const british = folded.replace(/(?<=..)iz(?=e|ing|ation)/, "is");
    const one = british.length > 3 ? british.replace(/(?<!s)s$/, "") : british;
    return SAME[one] ?? one;
  }

  function plain(text) {
    return text.replace(/without[ -]replacement/gi, "fixed size");
  }

  function phrase(text) {
    return [...plain(text).matchAll(/[\p{L}\p{N}]+/gu)].map((word) => stem(word[0])).filter(Boolean).join(" ");
  }

  /* A heading that has the words of the query and no other counts most, then side by side, then in order. */
  function fit(heading, query) {
    const title = ` ${phrase(heading)} `;
    return title === ` ${query} ` ? 4 : title.includes(` ${query} `) ? 2 : new RegExp(` ${query.replaceAll(" ", " (.* )?")} `).test(title) ? 1.5 : 1;
  }

  function make(sections) {
    const index = new MiniSearch({
      fields: ["title", "heading", "name", "text"],
      tokenize: (text) => MiniSearch.getDefault("tokenize")(plain(text)),
      processTerm: stem,
      searchOptions: { boost: { title: 3, heading: 5, name: 5 }, prefix: (term) => term.length > 3, fuzzy: (term) => (term.length > 5 ? 0.15 : 0) },
    });
    index.addAll(sections.map(([place, title, heading, text], id) => {
      const name = heading === title ? place.match(/(\w+)\.html/)[1].replaceAll("_", " ") : "";  // of the chapter's file
      return { id, title, heading, name, text };
    }));
    return index;
  }

  /* The results for a query: [place, title, heading, excerpt, words of the section that were found]. */
  function find(index, sections, words) {
    const query = words.replace(/^what (?:does|do|is|are) (.*?)(?: mean)?\??$/i, "$1");
    const share = ({ queryTerms }) => new Set(queryTerms).size, asked = Math.max(1, ...index.search(query).map(share));
    const whole = phrase(query), weight = ([place, , heading]) => (LISTS.test(heading) ? 0.3 : 1) * (/#erratum-/.test(place) ? (/errat/i.test(query) ? 2 : 0.1) : /#claim-/.test(place) ? (phrase(heading.split(". ")[0]) === whole ? 2 : 0.3) : LEMMAS.test(place) ? 0.15 : BACK.test(place) ? 0.35 : 1) * fit(heading, whole);
    const found = index.search(query, { boostDocument: (id) => weight(sections[id]) })
      .map((result) => ({ ...result, score: result.score * (share(result) / asked) ** 2 })).sort((one, other) => other.score - one.score);
    const shown = new Map();
    return found.filter(({ id }) => {
      const page = sections[id][0].split("#")[0], before = shown.get(page) ?? 0;
      shown.set(page, before + 1);
      return before < PER_PAGE;
    }).slice(0, SHOWN).map(({ id, terms }) => [...sections[id].slice(0, 3), excerpt(sections[id][3], terms), terms]);
  }

  function excerpt(text, terms) {
    const words = [...text.matchAll(/[\p{L}\p{N}]+/gu)];
    const first = words.find((word) => terms.includes(stem(word[0])));
    const at = first ? first.index : 0;
    const from = at > AROUND ? text.indexOf(" ", at - AROUND) + 1 : 0, end = text.indexOf(" ", at + AROUND);
    return (from ? "… " : "") + text.slice(from, end < 0 ? text.length : end) + (end < 0 ? "" : " …");
  }

  function marked(parent, text, terms) {
    for (const piece of text.split(/([\p{L}\p{N}]+)/u)) {
      if (terms.includes(stem(piece || "a"))) parent.appendChild(document.createElement("mark")).textContent = piece;
      else parent.append(piece);
    }
  }

  function show(results, list) {
    for (const [place, title, heading, text, terms] of results) {
      const item = list.appendChild(document.createElement("li")), link = item.appendChild(document.createElement("a"));
      link.href = place;
      marked(link, heading === title ? title : `${title}: ${heading}`, terms);
      if (text) marked(item.appendChild(document.createElement("p")), text, terms);
    }
  }

  const list = document.getElementById("search-results"), sections = globalThis.searchSections;
  const index = make(sections), query = new URLSearchParams(location.search).get("q") ?? "";
  globalThis.bookSearch = (words) => find(index, sections, words);
  for (const field of document.querySelectorAll("input[name=q]")) field.value = query;
  if (query.trim()) {
    const results = globalThis.bookSearch(query);
    document.getElementById("search-none").hidden = results.length > 0;
    document.getElementById("search-status").textContent = results.length
      ? `${results.length < SHOWN ? results.length : `The best ${SHOWN}`} section${results.length > 1 ? "s" : ""} for “${query}”, best first.`
      : `No section has the words “${query}”.`;
    show(results, list);
  }
})();
