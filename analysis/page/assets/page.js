/* The page: which year and snapshot is shown, another one beside it, permalinks, the theme, the search for a word. */
"use strict";

const Page = { cards: {}, words: {} };

(() => {
  const find = (id) => document.getElementById(id);
  const panels = () => [...document.querySelectorAll(".cards[data-question]")];
  const filters = find("filters");
  const first = About.years[0] && { place: About.years[0].place, snapshot: About.years[0].usual, beside: "" };
  let state = { ...first };

  // What is shown --------------------------------------------------------------------------------------------------

  const yearOf = (place) => About.years.find((one) => one.place === place);
  const snapshotOf = (place, name) => yearOf(place)?.snapshots.find((one) => one.name === name);

  async function view(place, snapshot) {
    if (!(place in Page.cards)) await load(`page/cards-${place}.js`);
    const { shared, views } = Page.cards[place];
    const own = views[snapshot] || { cards: {}, tiles: {}, remarks: "" };
    return { own, shared };
  }

  /** HTML that the suite made, in which all text of the data is escaped. */
  function parsed(html) {
    const holder = document.createElement("template");
    holder.innerHTML = html || "";
    return [...holder.content.children];
  }

  async function show(wanted) {
    const before = state;
    state = wanted;
    fillFilters();
    const left = await view(wanted.place, wanted.snapshot);
    const [place, snapshot] = wanted.beside.split("/");
    const right = wanted.beside ? await view(place, snapshot) : null;
    if (state !== wanted) return; // somebody chose anew meanwhile
    const isFirst = !before.beside && !wanted.beside && before.place === wanted.place && before.snapshot === wanted.snapshot;
    if (!isFirst) {
      for (const panel of panels()) {
        panel.replaceChildren(...content(panel.dataset.question, left, right, wanted));
        const nothing = panel.parentElement.querySelector(".nothing");
        if (nothing) nothing.hidden = panel.childElementCount > 0;
      }
      showTiles(left);
      find("said").querySelector("ul").innerHTML = (left.own.remarks || left.shared.remarks) + (right ? right.own.remarks : "");
    }
    tell(wanted);
  }

  function content(question, left, right, wanted) {
    const own = parsed(`${left.own.cards[question] || ""}${left.shared.cards[question] || ""}`);
    if (!right) return own;
    const isSameYear = wanted.beside.startsWith(`${wanted.place}/`);
    const other = parsed(`${right.own.cards[question] || ""}${isSameYear ? "" : right.shared.cards[question] || ""}`);
    return paired(own, other);
  }

  /** The same figure of both in one row; what only one has stands alone in its column. */
  function paired(own, other) {
    const names = [...new Set([...own, ...other].map((card) => card.dataset.name))];
    return names.map((name) => {
      const pair = [own, other].map((some) => some.find((card) => card.dataset.name === name));
      return make("div", { className: "pair" }, ...pair.map((card) => card || make("p", { className: "none quiet", textContent: "Not published here." })));
    });
  }

  function showTiles(left) {
    const tiles = { ...About.tiles, ...left.shared.tiles, ...left.own.tiles };
    find("tiles").replaceChildren(...panels().flatMap((panel) => parsed(tiles[panel.dataset.question])));
  }

  function tell({ place, snapshot, beside }) {
    const named = (where, name) => `${yearOf(where).title}, ${snapshotOf(where, name)?.label || name}`;
    const [other, name] = beside.split("/");
    const own = snapshotOf(place, snapshot)?.stage;
    const unlike = beside && snapshotOf(other, name)?.stage !== own ? " These are different stages: scores held after the discussion partly follow the decision." : "";
    find("shown").textContent = `Shown: ${named(place, snapshot)}${beside ? `, beside ${named(other, name)}.${unlike}` : "."}`;
  }

  // Filters --------------------------------------------------------------------------------------------------------

  function fillFilters() {
    const { place, snapshot, beside } = state;
    fill(find("year"), About.years.map((one) => [one.place, one.title]), place);
    fill(find("snapshot"), yearOf(place).snapshots.map((one) => [one.name, one.label]), snapshot);
    fill(find("beside"), [["", "nothing"], ...comparable(place, snapshot)], beside);
    if (find("beside").value !== beside) state.beside = "";
  }

  /** Like is compared with like: the same stage of other years, and the other snapshots of this one. */
  function comparable(place, snapshot) {
    const stage = snapshotOf(place, snapshot)?.stage;
    return About.years.flatMap((one) => one.snapshots
      .filter((other) => (one.place === place ? other.name !== snapshot : other.stage === stage))
      .map((other) => [`${one.place}/${other.name}`, `${one.title}, ${other.label}`]));
  }

  function chosen() {
    const place = find("year").value;
    const isOther = place !== state.place;
    const snapshot = isOther ? likeStage(place) : find("snapshot").value;
    const beside = comparable(place, snapshot).some(([value]) => value === find("beside").value) ? find("beside").value : "";
    Hash.write({ year: place, snapshot, with: beside });
    show({ place, snapshot, beside });
  }

  /** The snapshot of another year that is at the same stage; else the one it usually shows. */
  function likeStage(place) {
    const stage = snapshotOf(state.place, state.snapshot)?.stage;
    const same = yearOf(place).snapshots.find((one) => one.stage === stage);
    return same ? same.name : yearOf(place).usual;
  }

  // Permalinks -----------------------------------------------------------------------------------------------------

  /** What the address asks for: names and values, or the id of a card, which says its year and snapshot. */
  function asksFor() {
    const values = Hash.read();
    if (yearOf(values.get("year"))) {
      const place = values.get("year");
      const snapshot = snapshotOf(place, values.get("snapshot")) ? values.get("snapshot") : yearOf(place).usual;
      return { place, snapshot, beside: values.get("with") || "" };
    }
    const [place, ...rest] = decodeURIComponent(location.hash.slice(1)).split("/");
    if (!yearOf(place)) return null;
    const snapshot = rest.length > 2 ? rest.slice(0, -2).join("/") : state.place === place ? state.snapshot : yearOf(place).usual;
    return { place, snapshot, beside: state.place === place && state.snapshot === snapshot ? state.beside : "" };
  }

  async function follow() {
    const wanted = asksFor();
    if (wanted) await show(wanted);
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id && !id.includes("=") && find(id);
    if (!target) return;
    target.scrollIntoView();
    target.focus({ preventScroll: true });
  }

  // The theme ------------------------------------------------------------------------------------------------------

  function startTheme() {
    const root = document.documentElement;
    const button = find("theme");
    const name = () => { button.textContent = `Theme: ${root.dataset.theme || "system"}`; };
    button.hidden = false;
    name();
    button.addEventListener("click", () => {
      const next = { undefined: "light", light: "dark", dark: undefined }[root.dataset.theme];
      if (next) root.dataset.theme = next;
      else delete root.dataset.theme;
      try {
        if (next) localStorage.setItem("theme", next);
        else localStorage.removeItem("theme");
      } catch { /* no storage: the theme lasts as long as the page */ }
      name();
    });
  }

  // A word of titles or keywords -----------------------------------------------------------------------------------

  function startWords() {
    if (!About.words.length || !find("words-form")) return;
    find("words-form").hidden = false;
    find("more").hidden = false;
    fill(find("words-year"), About.words.map((one) => [one.key, `${one.key}, ${one.snapshot}`]), "");
    find("word").addEventListener("input", searchWord);
    find("words-year").addEventListener("change", searchWord);
    find("words-form").addEventListener("submit", (event) => event.preventDefault());
  }

  /** A word as the statistics compare it: `normalised` of analysis/statistics/topics.py. */
  function normalised(word) {
    const text = word.normalize("NFKC").replace(/(?<=[\p{L}\p{N}_])\s*\([^()]*\)\s*$/u, "")
      .replace(/(?<![\p{L}\p{N}_])([A-Z]{2,})s(?![\p{L}\p{N}_])/gu, "$1")
      .toLowerCase().replaceAll("ß", "ss").replaceAll("ς", "σ");
    return singular(text.replace(/[-\u2010-\u2015_\s]+/gu, " ").replace(/^[ .,:;!?'"`*|]+|[ .,:;!?'"`*|]+$/g, ""));
  }

  function singular(text) {
    const last = [...text.slice(text.lastIndexOf(" ") + 1)].length;
    if (text.endsWith("ies") && last > 4 && !/(series|species)$/.test(text)) return `${text.slice(0, -3)}y`;
    if (/(sses|shes|ches|xes)$/.test(text)) return text.slice(0, -2);
    return text.endsWith("s") && last > 3 && !/(ss|us|is|ics|bias|series|species)$/.test(text) ? text.slice(0, -1) : text;
  }

  async function searchWord() {
    const key = find("words-year").value;
    if (!(key in Page.words)) await load(About.words.find((one) => one.key === key).file);
    const typed = normalised(find("word").value);
    const found = typed ? ["title", "keyword"].flatMap((where) => matches(Page.words[key], where, typed)) : [];
    const none = make("p", { textContent: `Fewer than five papers with a review have “${typed}”.` });
    find("words-found").replaceChildren(...(!typed ? [] : found.length ? [wordTable(Page.words[key], found)] : [none]));
  }

  function matches(words, where, typed) {
    const near = Object.entries(words[where]).filter(([word]) => word.includes(typed));
    near.sort((a, b) => (b[0] === typed) - (a[0] === typed) || b[1][0] - a[1][0] || (a[0] < b[0] ? -1 : 1));
    return near.slice(0, 12).map(([word, row]) => [word, where, row]);
  }

  function wordTable(words, found) {
    const at = Object.fromEntries(words.outcomes.map((name, place) => [name, place + 2]));
    const isKnown = words.all[at.accepted] > 0;
    const heads = ["word", "in", "papers", "mean", "accepted", "share accepted", "withdrawn"];
    const cells = ([word, where, row]) => {
      const [low, high] = Standing.wilson(row[at.accepted], row[0]);
      const share = `${Standing.percent(row[at.accepted] / row[0])} (${Standing.percent(low)} to ${Standing.percent(high)})`;
      return [word, where, Standing.grouped(String(row[0])), Standing.fixed(row[1], 2), isKnown ? String(row[at.accepted]) : "–", isKnown ? share : "–", String(row[at.withdrawn])];
    };
    const rows = [...found, ["all papers", "", words.all]].map(cells);
    const line = (tag, texts) => make("tr", {}, ...texts.map((text, place) => make(tag, { className: place > 1 ? "number" : "", textContent: text })));
    const table = make("table", {}, make("thead", {}, line("th", heads)), make("tbody", {}, ...rows.map((row) => line("td", row))));
    return make("div", { className: "scroll", role: "region", tabIndex: 0, "aria-label": "Papers by word" }, table);
  }

  Page.normalised = normalised;
  startTheme();
  startWords();
  if (filters && About.years.length) {
    filters.addEventListener("change", chosen);
    filters.addEventListener("submit", (event) => event.preventDefault());
    window.addEventListener("hashchange", follow);
    fillFilters();
    tell(state);
    follow();
  }
})();
