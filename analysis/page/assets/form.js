/* The boxes for one's own ratings: what is typed goes to Standing, what it answers is shown. */
"use strict";

/** The part of the address after #, as names and values; an address without them is a place on the page. */
const Hash = {
  read: () => (location.hash.includes("=") ? new URLSearchParams(location.hash.slice(1)) : new URLSearchParams()),
  write(changes) {
    const values = Hash.read();
    for (const [name, value] of Object.entries(changes)) {
      if (value) values.set(name, value);
      else values.delete(name);
    }
    if (String(values) !== String(Hash.read())) history.replaceState(null, "", `#${values}`);
  },
};

const About = JSON.parse(document.getElementById("about").textContent);

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  const { data, ...own } = properties;
  for (const [name, value] of Object.entries(own)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function fill(select, options, wanted) {
  select.replaceChildren(...options.map(([value, text]) => make("option", { value, textContent: text })));
  select.value = options.some(([value]) => value === wanted) ? wanted : options[0]?.[0] ?? "";
}

const loaded = new Map();

/** Load a script that lies beside the page, once. */
function load(source) {
  if (!loaded.has(source)) {
    loaded.set(source, new Promise((done, failed) => {
      document.head.append(make("script", { src: source, onload: done, onerror: () => failed(new Error(`${source} is missing`)) }));
    }));
  }
  return loaded.get(source);
}

const StandForm = (() => {
  const find = (id) => document.getElementById(id);
  const POPULATIONS = { reviewed: "papers with a review", active: "not withdrawn or desk-rejected", decided: "decided papers" };
  const SVG = "http://www.w3.org/2000/svg";
  let year = null;

  const offer = () => About.stand.find((one) => one.key === find("stand-year").value);

  async function chooseYear(snapshot, population) {
    const wanted = offer();
    year = wanted;
    const labelled = wanted.snapshots.map(({ name, stage }) => [name, name === stage ? name : `${stage}, ${name}`]);
    fill(find("stand-snapshot"), labelled, snapshot || wanted.usual);
    if (!(wanted.key in Standing.data)) await load(wanted.file);
    if (year === wanted) choosePopulations(population);
  }

  const data = () => Standing.data[offer().key][find("stand-snapshot").value];

  function choosePopulations(wanted) {
    const known = Standing.populations(data());
    fill(find("stand-population"), known.map((name) => [name, POPULATIONS[name]]), wanted || find("stand-population").value);
    show();
  }

  function show() {
    const typed = find("ratings").value;
    find("answer").hidden = !typed.trim();
    Hash.write(typed.trim() ? { mine: typed.trim(), of: `${offer().key}/${find("stand-snapshot").value}`, among: find("stand-population").value }
      : { mine: "", of: "", among: "" });
    if (!typed.trim()) return;
    const population = find("stand-population").value;
    try {
      showAnswer(data(), Standing.answer(data(), typed, population), population);
    } catch (trouble) {
      if (!(trouble instanceof Standing.Trouble)) throw trouble;
      find("sentence").textContent = trouble.message;
      find("sentence").className = "trouble";
      for (const id of ["facts", "histogram", "tables", "stand-remarks"]) find(id).replaceChildren();
      find("tables-fold").hidden = true;
    }
  }

  function showAnswer(counts, answer, population) {
    find("sentence").textContent = answer.sentence;
    find("sentence").className = "";
    find("facts").replaceChildren(...facts(counts, answer, population));
    find("histogram").replaceChildren(histogram(counts, answer.point, population));
    find("tables").replaceChildren(...answer.tables.map(table));
    find("tables-fold").hidden = false;
    find("stand-remarks").replaceChildren(...counts.remarks.map((text) => make("li", { textContent: text })));
  }

  function facts(counts, { tables, point }, population) {
    const cell = (name, row, column) => {
      const wanted = tables.find((one) => one.caption === name);
      return wanted ? wanted.rows.at(row)[wanted.names.indexOf(column)] : "";
    };
    const [positions, fate] = [tables[0].caption, tables.find((one) => one.names[0] === "like")?.caption];
    const place = { reviewed: 0, active: 1, decided: 2 }[population];
    const found = [["Top, read strictly", cell(positions, place, "top"), `${cell(positions, place, "top mid rank")} by mid-rank`]];
    if (fate) {
      const limits = `${cell(fate, -1, "low")} to ${cell(fate, -1, "high")}, of ${cell(fate, -1, "n")} with ${cell(fate, -1, "like")}`;
      found.push(["Accepted", cell(fate, -1, "value"), limits]);
    }
    const error = tables.find((one) => one.names[0] === "reviews");
    if (error && counts.stage === "release" && error.rows[0][1] !== "–") {
      found.push(["An average is this far off", `± ${error.rows[0][1]}`, `standard error of ${Standing.count(point.ratings.length, "review")}`]);
    }
    return found.map(([name, value, rest]) =>
      make("div", {}, make("dt", { textContent: name }), make("dd", {}, make("strong", { textContent: value }), make("span", { textContent: rest }))));
  }

  function table({ caption, names, numeric, rows }) {
    const kind = (place) => (numeric[place] ? "number" : "");
    const head = make("tr", {}, ...names.map((name, place) => make("th", { scope: "col", className: kind(place), textContent: name })));
    const body = rows.map((row) => make("tr", {}, ...row.map((text, place) => make("td", { className: kind(place), textContent: text }))));
    const whole = make("table", {}, make("caption", { textContent: caption }), make("thead", {}, head), make("tbody", {}, ...body));
    return make("div", { className: "scroll", role: "region", tabIndex: 0, "aria-label": caption }, whole);
  }

  // The histogram --------------------------------------------------------------------------------------------------

  function draw(tag, attributes, ...children) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  /** Papers by their exact average: a needle each, what was accepted in front, one's own in a colour of its own. */
  function histogram(counts, point, population) {
    const bars = new Map();
    for (const kind of Standing.kinds(counts)) {
      const bar = bars.get(kind.average) || { average: kind.average, papers: 0, accepted: 0 };
      bar.papers += kind[population];
      bar.accepted += kind.accepted;
      bars.set(kind.average, bar);
    }
    const [lowest, highest] = [Standing.float(point.averages[0]), Standing.float(point.averages.at(-1))];
    const isOwn = (bar) => lowest <= bar.average && bar.average <= highest;
    const knows = counts.outcomes === "complete" || (counts.outcomes !== "none" && population === "reviewed");
    return figure(counts, [...bars.values()].sort((a, b) => a.average - b.average), { lowest, highest, isOwn, knows });
  }

  function figure(counts, bars, { lowest, highest, isOwn, knows }) {
    const width = Math.max(280, Math.min(find("answer").clientWidth || 720, 960));
    const [height, left, top, bottom] = [width < 500 ? 210 : 260, 42, 30, 40];
    const [first, last] = [counts.levels[0], counts.levels.at(-1)];
    const x = (average) => left + 8 + ((width - left - 20) * (average - first)) / (last - first || 1);
    const most = Math.max(1, ...bars.map((bar) => bar.papers));
    const y = (papers) => height - bottom - ((height - bottom - top) * papers) / most;
    const thick = Math.max(1.6, Math.min(7, (width - left) / (bars.length * 2)));
    const rect = (bar, papers, name) => draw("rect", { x: x(bar.average) - thick / 2, width: thick, y: y(papers), height: y(0) - y(papers), class: name });
    const own = bars.filter(isOwn);
    const papers = own.reduce((total, bar) => total + bar.papers, 0);
    const parts = [
      ...ticks(most).map((tick) => draw("g", {}, draw("line", { x1: left, x2: width, y1: y(tick), y2: y(tick), class: "grid" }),
        text(left - 6, y(tick) + 4, Standing.grouped(String(tick)), "end"))),
      ...bars.map((bar) => rect(bar, bar.papers, isOwn(bar) ? "own" : "papers")),
      ...(knows ? bars.map((bar) => rect(bar, bar.accepted, isOwn(bar) ? "own-accepted" : "accepted")) : []),
      ...counts.levels.map((level) => text(x(level), height - bottom + 16, String(level), "middle")),
      text((left + width) / 2, height - 6, "average rating", "middle"),
      draw("line", { x1: x((lowest + highest) / 2), x2: x((lowest + highest) / 2), y1: top - 8, y2: y(0), class: "mine" }),
      mark(x((lowest + highest) / 2), width, top - 14, `yours, level with ${Standing.count(papers, "paper")}`),
    ];
    const label = `Papers by their average, from ${first} to ${last}; yours is level with ${Standing.count(papers, "paper")} of ${Standing.count(bars.reduce((total, bar) => total + bar.papers, 0), "paper")}.`;
    const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, ...parts);
    const key = make("p", { className: "key quiet" }, make("span", { className: "swatch papers" }), "papers ",
      ...(knows ? [make("span", { className: "swatch accepted" }), "of these accepted "] : []), make("span", { className: "swatch own" }), "level with yours");
    return make("figure", {}, picture, make("figcaption", {}, key));
  }

  const text = (x, y, content, anchor, name = "tick") => draw("text", { x, y, "text-anchor": anchor, class: name }, content);
  const mark = (x, width, y, content) => text(x > width / 2 ? x + 4 : x - 4, y, content, x > width / 2 ? "end" : "start", "own-label");

  function ticks(most) {
    const step = [1, 2, 5].flatMap((digit) => [0, 1, 2, 3, 4, 5].map((power) => digit * 10 ** power)).sort((a, b) => a - b)
      .find((one) => most / one <= 4) || most;
    return Array.from({ length: Math.floor(most / step) + 1 }, (_, place) => place * step);
  }

  function start() {
    if (!find("stand-form") || !About.stand.length) return;
    const values = Hash.read();
    const [key, snapshot] = (values.get("of") || "").split("/");
    fill(find("stand-year"), About.stand.map((one) => [one.key, one.key]), key);
    find("ratings").value = values.get("mine") || "";
    chooseYear(snapshot, values.get("among") || "");
    find("ratings").addEventListener("input", () => show());
    find("stand-year").addEventListener("change", () => chooseYear("", ""));
    find("stand-snapshot").addEventListener("change", () => choosePopulations(""));
    find("stand-population").addEventListener("change", show);
    find("stand-form").addEventListener("submit", (event) => event.preventDefault());
    let last = window.innerWidth;
    window.addEventListener("resize", () => {
      if (window.innerWidth !== last) show();
      last = window.innerWidth;
    });
  }

  return { start };
})();

StandForm.start();
