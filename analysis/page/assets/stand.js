/* Where do I stand: what `python -m analysis stand` computes, from counts of papers by their ratings.
   The rules and the words are those of analysis/statistics/standing.py; a test holds the two together. */
"use strict";

const Standing = (() => {
  const Z = 1.959963984540054; // the 0.975 quantile of the normal distribution
  const ENOUGH_ALIKE = 30;
  const ENOUGH_NEAR = 50;
  const COLUMNS = ["reviewed", "active", "decided", "accepted"];
  const PLACED = {
    reviewed: "with a review",
    active: "with a review and neither withdrawn nor desk-rejected",
    decided: "with a review and a decision",
  };
  const POSITION = ["below", "tied", "at_or_below", "mid_rank", "top", "top_mid_rank", "top_at_or_below"];
  const MISSING = "–";

  class Trouble extends Error {}

  // Words ----------------------------------------------------------------------------------------------------------

  /** A number with so many decimals as Python writes it: a tie goes to the even digit, where toFixed rounds up. */
  function fixed(number, digits) {
    const nearest = number.toFixed(digits);
    const exact = number.toFixed(60);
    const end = exact.indexOf(".") + 1 + digits;
    if (!/^50*$/.test(exact.slice(end))) return nearest;
    const down = exact.slice(0, digits ? end : end - 1);
    return Number(down.at(-1)) % 2 ? nearest : down;
  }

  const grouped = (text) => text.replace(/^\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));
  const percent = (share, digits = 1) => `${fixed(100 * share, digits)} %`;
  const count = (number, noun) => `${grouped(String(number))} ${noun}${number === 1 ? "" : "s"}`;
  const choices = (values) => (values.length < 2 ? String(values[0]) : `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`);
  const title = (data) => `${data.venue} ${data.year}, ${data.snapshot}`;

  // Fractions, as [numerator, denominator] with whole numbers: exact, and equal fractions are equal floats -----------

  const float = ([top, bottom]) => top / bottom;
  const order = ([a, b], [c, d]) => a * d - c * b;
  const less = ([a, b], [c, d]) => [a * d - c * b, b * d];
  const divisor = (a, b) => (b ? divisor(b, a % b) : Math.abs(a));
  function reduced([top, bottom]) {
    const common = divisor(top, bottom) || 1;
    return [top / common, bottom / common];
  }
  const written = (fraction) => (reduced(fraction)[1] === 1 ? String(reduced(fraction)[0]) : reduced(fraction).join("/"));
  const decimal = (fraction) => fixed(float(fraction), 2);

  // What is given --------------------------------------------------------------------------------------------------

  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

  /** What somebody typed: several ratings, or one number with a decimal point, which is an average. */
  function read(data, typed) {
    const parts = typed.trim().split(/[\s,;/]+/).filter(Boolean);
    if (!parts.length) throw new Trouble("Which ratings? Give those of one paper, as in 3 6 6, or an average.");
    if (parts.length === 1 && parts[0].includes(".")) return matchAverage(data, parts[0]);
    if (!parts.every((part) => /^\d{1,9}$/.test(part))) {
      throw new Trouble(`Ratings are whole numbers on the scale of that year, not \`${parts.join(" ")}\`.`);
    }
    return given(data, parts.map(Number));
  }

  function given(data, ratings) {
    for (const rating of ratings) {
      if (!data.levels.includes(rating)) {
        const offered = `${data.declared ? "the scale is" : "seen are"} ${choices(data.levels)}`;
        throw new Trouble(`${rating} is not a rating of ${data.venue} ${data.year}: ${offered}.`);
      }
    }
    const ordered = [...ratings].sort((a, b) => a - b);
    return { text: ordered.join(" "), ratings: ordered, averages: [[sum(ordered), ordered.length]] };
  }

  /** The attainable averages that a printed decimal stands for: 4.67 is 14/3. */
  function matchAverage(data, text) {
    const [, whole, decimals] = /^(\d*)\.(\d*)$/.exec(text) || [];
    if (whole === undefined || !(whole + decimals)) {
      throw new Trouble(`'${text}' is not an average: give a decimal as it is printed, such as 4.67.`);
    }
    const printed = BigInt(whole + decimals);
    const unit = 10n ** BigInt(decimals.length);
    const away = ([top, bottom]) => 2n * (BigInt(top) * unit - printed * BigInt(bottom));
    const isNear = (one) => away(one) <= BigInt(one[1]) && away(one) >= -BigInt(one[1]);
    const near = attainable(data).filter(isNear).sort(order);
    if (!near.length) {
      const year = `${data.venue} ${data.year}`;
      throw new Trouble(`No 1 to ${data.most} ratings of ${year} have an average of ${text}: the scale is ${choices(data.levels)}.`);
    }
    return { text, ratings: [], averages: near };
  }

  function attainable(data) {
    const found = new Map();
    let totals = new Set([0]);
    for (let reviews = 1; reviews <= data.most; reviews += 1) {
      totals = new Set([...totals].flatMap((total) => data.levels.map((level) => total + level)));
      for (const total of totals) found.set(written([total, reviews]), reduced([total, reviews]));
    }
    return [...found.values()];
  }

  // The papers -----------------------------------------------------------------------------------------------------

  /** A row a set of ratings that papers had; made once for each snapshot. */
  function kinds(data) {
    if (!data.kinds) {
      const width = data.levels.length;
      data.kinds = data.profiles.map((row) => {
        const profile = row.slice(0, width);
        const reviews = sum(profile);
        const total = sum(profile.map((papers, place) => papers * data.levels[place]));
        const isAccepting = (level) => data.accept_from !== null && level >= data.accept_from;
        const side = sum(profile.filter((_, place) => isAccepting(data.levels[place])));
        const papers = Object.fromEntries(COLUMNS.map((name, place) => [name, row[width + place]]));
        return { profile, reviews, total, side, average: total / reviews, ...papers };
      });
    }
    return data.kinds;
  }

  /** Whom a paper can be placed among: who was decided, or active in the end, is known with all outcomes only. */
  const populations = (data) => Object.keys(PLACED).filter((name) => name === "reviewed" || data.outcomes === "complete");
  const knowsFate = (data, population) => data.outcomes === "complete" || (population === "reviewed" && data.outcomes !== "none");

  // Where it stands ------------------------------------------------------------------------------------------------

  function position(rows, population, point) {
    const papers = (test) => sum(rows.filter(test).map((row) => row[population]));
    const [lowest, highest] = [float(point.averages[0]), float(point.averages.at(-1))];
    const n = papers(() => true);
    const below = papers((row) => row.average < lowest);
    const reached = papers((row) => row.average <= highest);
    const doubled = [2 * below, 2 * (reached - below), 2 * reached, below + reached];
    doubled.push(2 * (n - below), 2 * n - below - reached, 2 * (n - reached));
    return { ...Object.fromEntries(POSITION.map((name, place) => [name, n ? doubled[place] / (2 * n) : NaN])), n };
  }

  function positions(data, point) {
    const rows = kinds(data);
    const among = ["reviewed", "active", ...(data.outcomes === "complete" ? ["decided"] : [])];
    const found = among.map((population) => ({ population, ...position(rows, population, point) }));
    if (point.ratings.length) {
      const n = point.ratings.length;
      const alike = rows.filter((row) => row.reviews === n);
      found.push({ population: `with ${count(n, "review")}`, ...position(alike, "reviewed", point) });
    }
    return found;
  }

  function oneChanged(data, point) {
    const steps = data.levels.slice(1).flatMap((level, place) => [[data.levels[place], level], [level, data.levels[place]]]);
    const moves = steps.filter(([old]) => point.ratings.includes(old)).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    return moves.map(([old, changed]) => {
      const ratings = [...point.ratings];
      ratings[ratings.indexOf(old)] = changed;
      const moved = given(data, ratings);
      const named = { change: `one ${old} to ${changed}`, ratings: moved.text, average: float(moved.averages[0]) };
      return { ...named, ...position(kinds(data), "reviewed", moved) };
    });
  }

  function errorOfAverage(data, point) {
    const reviews = point.ratings.length;
    const part = (name) => (data.sd[name] === null ? NaN : data.sd[name] / Math.sqrt(reviews));
    const limits = { value: part("value"), low: part("low"), high: part("high") };
    return [{ reviews, ...limits, n: data.sd.n, meaning: data.sd.meaning }];
  }

  // What was decided -----------------------------------------------------------------------------------------------

  function fate(data, point, population) {
    const found = [];
    for (const { like, rows, enough } of likenesses(data, point, population)) {
      found.push(accepted(like, rows, enough, population));
      if (found.at(-1).n >= enough) break;
    }
    return found;
  }

  function likenesses(data, point, population) {
    const rows = kinds(data).filter((row) => row[population] > 0);
    const tried = [];
    if (point.ratings.length) {
      const wanted = data.levels.map((level) => point.ratings.filter((rating) => rating === level).length);
      const same = rows.filter((row) => row.profile.every((papers, place) => papers === wanted[place]));
      tried.push({ like: `exactly ${point.text}`, rows: same, enough: ENOUGH_ALIKE });
    }
    if (point.ratings.length && data.accept_from !== null) {
      const n = point.ratings.length;
      const side = point.ratings.filter((rating) => rating >= data.accept_from).length;
      const alike = rows.filter((row) => row.reviews === n && row.side === side);
      tried.push({ like: `${side} of ${n} ratings at ${data.accept_from} or more`, rows: alike, enough: ENOUGH_ALIKE });
    }
    const away = distance(rows, point, population);
    const [lowest, highest] = [point.averages[0], point.averages.at(-1)];
    const low = float(less(lowest, away));
    const high = float(less(highest, [-away[0], away[1]]));
    const near = low === high ? `an average of ${decimal(lowest)}` : `an average from ${fixed(low, 2)} to ${fixed(high, 2)}`;
    tried.push({ like: near, rows: rows.filter((row) => low <= row.average && row.average <= high), enough: 0 });
    return tried;
  }

  /** How far from the average to go, evenly to both sides, until there are enough papers; exact. */
  function distance(rows, point, population) {
    const [lowest, highest] = [point.averages[0], point.averages.at(-1)];
    const outside = (average) => reduced([less(lowest, average), less(average, highest), [0, 1]].sort(order).at(-1));
    const away = rows.map((row) => [outside([row.total, row.reviews]), row[population]]).sort((a, b) => order(a[0], b[0]));
    let papers = 0;
    for (const [far, number] of away) {
      papers += number;
      if (papers >= ENOUGH_NEAR) return far;
    }
    return away.length ? away.at(-1)[0] : [0, 1];
  }

  function accepted(like, rows, enough, population) {
    const n = sum(rows.map((row) => row[population]));
    const number = n >= enough ? sum(rows.map((row) => row.accepted)) : null;
    const averages = rows.map((row) => row.average);
    const ends = { lowest: n ? Math.min(...averages) : NaN, highest: n ? Math.max(...averages) : NaN };
    const value = number === null || !n ? NaN : number / n;
    const [low, high] = number === null ? [NaN, NaN] : wilson(number, n);
    return { like, ...ends, accepted: number, value, low, high, n };
  }

  function wilson(successes, n) {
    if (!n) return [NaN, NaN];
    const share = successes / n;
    const shrink = 1 + Z ** 2 / n;
    const centre = (share + Z ** 2 / (2 * n)) / shrink;
    const half = (Z / shrink) * Math.sqrt((share * (1 - share)) / n + Z ** 2 / (4 * n ** 2));
    return [successes === 0 ? 0 : centre - half, successes === n ? 1 : centre + half];
  }

  // In one sentence ------------------------------------------------------------------------------------------------

  function sentence(data, point, population) {
    const at = positions(data, point).find((row) => row.population === population);
    if (!at.n) return `${title(data)} has no paper ${PLACED[population]} to compare with.`;
    const taken = data.stage === data.snapshot ? title(data) : `${title(data)} (${data.stage})`;
    const papers = `${count(at.n, "paper")} ${PLACED[population]} in ${taken}`;
    const place = `${named(point)} is above ${percent(at.below, 2)} of the ${papers} and level with ${percent(at.tied, 2)}`;
    const top = `top ${percent(at.top, 2)} read strictly, ${percent(at.top_mid_rank, 2)} by mid-rank`;
    return `${place}: ${top}; ${fateClause(data, point, population)}`;
  }

  function named(point) {
    if (point.ratings.length) return `${point.text} (average ${decimal(point.averages[0])})`;
    if (point.averages.length === 1) return `An average of ${point.text} (${written(point.averages[0])})`;
    const ends = `${decimal(point.averages[0])} to ${decimal(point.averages.at(-1))}`;
    return `An average of ${point.text} (${point.averages.length} attainable ones round to it, ${ends})`;
  }

  function fateClause(data, point, population) {
    if (!knowsFate(data, population)) return `which of them were accepted is not known (outcomes: ${data.outcomes}).`;
    const answer = fate(data, point, population).at(-1);
    const [value, low, high] = [answer.value, answer.low, answer.high].map((share) => percent(share));
    return `of ${count(answer.n, "paper")} with ${answer.like}, ${value} were accepted (95 % limits ${low} to ${high}).`;
  }

  // Tables ---------------------------------------------------------------------------------------------------------

  const TABLES = {
    positions: { shares: POSITION, title: "Where it stands: shares of papers with an average below, equal to, at or below it" },
    fate: { shares: ["value", "low", "high"], title: "What was decided for such papers (Wilson 95 % limits); the last row is the answer" },
    "one-changed": { shares: POSITION, title: "If one rating changed, at the same stage" },
    "error-of-average": { shares: [], title: "The standard error of an average of so many reviews" },
  };

  function frames(data, point, population) {
    const found = { positions: positions(data, point) };
    if (knowsFate(data, population)) found.fate = fate(data, point, population);
    if (point.ratings.length) {
      found["one-changed"] = oneChanged(data, point);
      found["error-of-average"] = errorOfAverage(data, point);
    }
    return found;
  }

  /** The cells of a frame as the command prints them: percent, or the fewest decimals that show the point. */
  function printed(name, frame) {
    const { shares, title: caption } = TABLES[name];
    const names = Object.keys(frame[0] || {});
    const columns = names.map((column) => cells(column, frame.map((row) => row[column]), shares.includes(column)));
    const rows = frame.map((_, place) => columns.map((column) => column.texts[place]));
    return { caption, names: names.map((column) => column.replaceAll("_", " ")), numeric: columns.map((column) => column.numeric), rows };
  }

  function cells(name, values, isShare) {
    const numeric = values.every((value) => value === null || typeof value === "number");
    const digits = numeric && !isShare ? decimals(values) : 0;
    const show = (value) => (isShare ? percent(value) : numeric ? grouped(fixed(value, digits)) : String(value));
    return { numeric, texts: values.map((value) => (value === null || Number.isNaN(value) ? MISSING : show(value))) };
  }

  function decimals(values) {
    const known = values.filter((value) => Number.isFinite(value));
    const most = known.some((value) => value !== 0 && Math.abs(value) < 1) ? 3 : 2;
    for (let digits = 0; digits < most; digits += 1) {
      if (known.every((value) => Math.abs(value - Number(fixed(value, digits))) <= 1e-9)) return digits;
    }
    return most;
  }

  /** The whole answer to what was typed; throws a Trouble whose message is the sentence to show. */
  function answer(data, typed, population = "reviewed") {
    if (!data.profiles.length) throw new Trouble(`${title(data)} has no reviews yet: fetch it again when they are out.`);
    const point = read(data, typed);
    const found = frames(data, point, population);
    const tables = Object.entries(found).filter(([, frame]) => frame.length).map(([name, frame]) => printed(name, frame));
    return { point, sentence: sentence(data, point, population), tables };
  }

  return { answer, populations, kinds, title, float, fixed, percent, count, grouped, wilson, Trouble, data: {} };
})();
