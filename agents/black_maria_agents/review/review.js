/* The review page: steps through hands, and says of each decision what it cost.

   The data is in the element #data, as `data_of` of page.py writes it:
     {title, agent, worlds, seed, phases, noted, damages: [[line, reason]], leftOut,
      players: [{name, chairs, losses}], dearest: [[hand, ply]],
      hands: [{line, rules, varies, names, passes, receivers, penalties, losses, dearest,
               start: a table as table.js draws it, all cards open,
               steps: [{"places.1.penalties": 13}],    // what each card changed, by path
               moves: [[seat, card]],
               decisions: {ply: {phase, kind, trick, best, regret, error, dear, cost, words,
                                 options: [[card, policy, difference, error, risk, equal]],
                                 holds: [[Q♠, K♠, A♠, ♣, ♦, ♥, ♠] for each seat]}}}]}
   losses are [points, error] for each phase and for all together. All text is put in as text. */
(function () {
  "use strict";

  var data = JSON.parse(document.getElementById("data").textContent);
  var make = BlackMaria.make, main = document.getElementById("review");
  var hand = 0, ply = 0, viewer = null, whole = false, states = [], parts = {};
  var MOST = 7; // options shown at first

  // --- numbers and words

  function fixed(number, places) { return (Math.round(number * 100) / 100 || 0).toFixed(places); }
  function signed(number) { return (number < 0 ? "−" : "+") + fixed(Math.abs(number), 1); }
  function percent(share) { return share > 0 && share < 0.01 ? "<1 %" : Math.round(100 * share) + " %"; }
  function within(number, error) { return fixed(number, 1).replace("-", "−") + " ± " + fixed(1.96 * error, 1); }
  function count(number, one, many) { return number + " " + (number === 1 ? one : many); }
  function suited(text) { // a text with red suits red
    var span = make("span");
    text.split(/((?:10|[2-9JQKA])[♣♦♥♠])/).forEach(function (part) {
      span.appendChild(/[♦♥]$/.test(part) ? make("span", "red", part) : document.createTextNode(part));
    });
    return span;
  }

  // --- tables

  /* A state with some values changed, by path; what isn't changed is shared. */
  function changed(state, changes) {
    var copy = Object.assign({}, state);
    Object.keys(changes).forEach(function (path) {
      var keys = path.split("."), at = copy, last = keys.pop();
      keys.forEach(function (key) {
        at[key] = Array.isArray(at[key]) ? at[key].slice() : Object.assign({}, at[key]);
        at = at[key];
      });
      at[last] = changes[path];
    });
    return copy;
  }

  function statesOf(which) {
    var all = [which.start];
    which.steps.forEach(function (changes) { all.push(changed(all[all.length - 1], changes)); });
    return all;
  }

  /* What one seat knows of a table: its own cards, those that it passed, what lies open. */
  function seenBy(state, which, seat) {
    var passing = state.stage.indexOf("passing") >= 0, to = which.receivers[seat];
    var seen = Object.assign({}, state, {near: seat, kitty: [],
      kittyHidden: state.kitty.length + state.kittyHidden});
    seen.places = state.places.map(function (place, k) {
      if (k === seat) { return place; }
      var known = [];
      if (k === to && !passing) {
        known = which.passes[seat].slice().sort(function (a, b) { return a - b; });
        which.moves.slice(which.moves.length - which.cards).forEach(function (move, at) {
          if (at < state.played && move[0] === k && known.indexOf(move[1]) >= 0) {
            known.splice(known.indexOf(move[1]), 1);
          }
        });
      }
      return Object.assign({}, place, {holding: known, hidden: place.holding.length - known.length,
        picked: [], pickedHidden: place.picked.length});
    });
    return seen;
  }

  // --- where we are

  function current() { return data.hands[hand]; }
  function last() { return current().steps.length; }

  function go(toHand, toPly) {
    toHand = Math.max(0, Math.min(toHand, data.hands.length - 1));
    if (toHand !== hand || !states.length) {
      hand = toHand;
      states = statesOf(current());
      var passes = 0;
      current().passes.forEach(function (cards) { passes += cards.length; });
      current().cards = current().moves.length - passes;
      states.forEach(function (state, k) { state.played = Math.max(0, k - passes); });
      if (viewer !== null && viewer >= current().names.length) { viewer = null; }
      drawHead();
    }
    ply = Math.max(0, Math.min(toPly, last()));
    draw();
  }

  /* The next decision that gave points away, in this hand and then in the others. */
  function nextDear(way) {
    var at = hand, from = ply;
    for (var k = 0; k <= data.hands.length; k++) {
      var which = data.hands[at];
      var found = Object.keys(which.decisions).map(Number).filter(function (p) {
        return which.decisions[p].dear && (way > 0 ? p > from : p < from);
      }).sort(function (a, b) { return way * (a - b); });
      if (found.length) { go(at, found[0]); return; }
      at = (at + way + data.hands.length) % data.hands.length;
      from = way > 0 ? -1 : Infinity;
    }
  }

  // --- parts of the page

  function button(className, text, click) {
    var made = make("button", className, text);
    made.type = "button";
    made.addEventListener("click", click);
    return made;
  }

  function dearButton(at) {
    var which = data.hands[at[0]], row = which.decisions[at[1]], move = which.moves[at[1]];
    var made = button("dearest", undefined, function () {
      go(at[0], at[1]);
      parts.stage.scrollIntoView({block: "nearest"});
    });
    made.appendChild(make("b", "price", fixed(row.regret, 1)));
    var what = make("span", "what");
    what.appendChild(make("span", "who", which.names[move[0]] + " · " + data.phases[row.phase] +
      (data.hands.length > 1 ? " · hand " + (at[0] + 1) : "")));
    what.appendChild(suited(BlackMaria.cardText(move[1]) + " instead of " +
      BlackMaria.cardText(row.best)));
    made.appendChild(what);
    return made;
  }

  function dearestList(places, title) {
    var box = make("section", "box");
    box.appendChild(make("h2", "", title));
    if (!places.length) { box.appendChild(make("p", "quiet", "None beyond doubt.")); }
    places.forEach(function (at) { box.appendChild(dearButton(at)); });
    return box;
  }

  /* Points lost by phase: a row for each of [[name, detail, losses]]. */
  function lossTable(title, rows, note) {
    var box = make("section", "box"), wide = make("div", "scroll"), table = make("table", "losses");
    box.appendChild(make("h2", "", title));
    var head = table.createTHead().insertRow();
    [""].concat(data.phases, ["in all"]).forEach(function (name) {
      head.appendChild(make("th", "", name)).scope = "col";
    });
    var body = table.createTBody();
    rows.forEach(function (row) {
      var line = body.insertRow(), name = line.appendChild(make("th", "", row[0]));
      name.scope = "row";
      if (row[1]) { name.appendChild(make("span", "quiet", row[1])); }
      row[2].forEach(function (loss) {
        var cell = line.appendChild(make("td"));
        cell.appendChild(make("b", loss[0] > 1.96 * loss[1] && loss[0] >= 0.05 ? "lost" : "", fixed(loss[0], 1).replace("-", "−")));
        cell.appendChild(make("span", "quiet", "± " + fixed(1.96 * loss[1], 1)));
      });
    });
    wide.appendChild(table);
    box.appendChild(wide);
    if (note) { box.appendChild(make("p", "quiet", note)); }
    return box;
  }

  function drawHead() {
    var which = current();
    parts.hands.textContent = "";
    data.hands.forEach(function (each, k) {
      var option = make("option", "", "hand " + (k + 1) + " · line " + each.line + " · " +
        each.names.join(", "));
      option.value = k;
      option.selected = k === hand;
      parts.hands.appendChild(option);
    });
    parts.views.textContent = "";
    ["all cards open"].concat(which.names.map(function (name, seat) {
      return "as seat " + seat + ", " + name + ", sees it";
    })).forEach(function (text, k) {
      var option = make("option", "", text);
      option.value = k - 1;
      option.selected = (viewer === null ? -1 : viewer) === k - 1;
      parts.views.appendChild(option);
    });
    parts.line.textContent = "";
    which.moves.forEach(function (move, k) {
      var row = which.decisions[k], bar = make("span", "bar");
      var passing = states[k].stage.indexOf("passing") >= 0;
      bar.classList.toggle("pass", passing);
      bar.classList.toggle("first", !passing && !states[k].trick.length);
      var high = 0;
      if (!row) { bar.classList.add("forced"); }
      if (row && row.regret > 0) {
        high = Math.min(1, Math.sqrt(row.regret / 8));
        bar.classList.add(row.dear ? "costly" : "unsure");
      }
      bar.style.setProperty("--high", high.toFixed(3));
      parts.line.appendChild(bar);
    });
    parts.line.appendChild(make("span", "bar end"));
  }

  function drawLine() {
    var bars = parts.line.children;
    for (var k = 0; k < bars.length; k++) { bars[k].classList.toggle("here", k === ply); }
    parts.line.setAttribute("aria-valuemax", last());
    parts.line.setAttribute("aria-valuenow", ply);
    var row = current().decisions[ply];
    parts.line.setAttribute("aria-valuetext", states[ply].stage + (row && row.dear ?
      ", gave away " + fixed(row.regret, 1) + " points" : ""));
  }

  function optionTable(row, move) {
    var wide = make("div", "scroll"), table = make("table", "options");
    var head = table.createTHead().insertRow();
    ["card", "policy", "costs more", "trick costs"].forEach(function (name, k) {
      if (k < 3 || row.trick) { head.appendChild(make("th", "", name)).scope = "col"; }
    });
    var body = table.createTBody(), shown = worthShowing(row, move[1]);
    row.options.forEach(function (option) {
      if (!whole && shown.indexOf(option) < 0) { return; }
      var chosen = option[0] === move[1], best = option[0] === row.best;
      var line = body.insertRow();
      line.className = (chosen ? "chosen" : "") + (best ? " best" : "");
      var name = line.appendChild(make("th"));
      name.scope = "row";
      name.appendChild(BlackMaria.chip(BlackMaria.cardText(option[0]).slice(0, -1),
        BlackMaria.suitOf(option[0])));
      if (chosen) { name.appendChild(make("span", "tag", row.phase ? "played" : "passed")); }
      if (best && !chosen) { name.appendChild(make("span", "tag green", "best")); }
      var policy = line.appendChild(make("td", "share"));
      policy.appendChild(make("i")).style.setProperty("--share", option[1]);
      policy.appendChild(make("span", "", percent(option[1])));
      var more = line.appendChild(make("td"));
      if (chosen) {
        more.appendChild(make("span", "quiet", "0"));
      } else {
        more.appendChild(make("b", option[5] ? "equal" : option[2] < 0 ? "gain" : "lost",
          option[5] ? "≈" : signed(option[2])));
        more.appendChild(make("span", "quiet", option[5] ? signed(option[2]) + " ± " + fixed(1.96 * option[3], 1) :
          "± " + fixed(1.96 * option[3], 1)));
      }
      if (row.trick) { line.appendChild(make("td", "", percent(option[4]))); }
    });
    wide.appendChild(table);
    if (shown.length < row.options.length) {
      wide.appendChild(button("more", whole ? "fewer" :
        row.options.length - shown.length + " more cards", function () {
        whole = !whole;
        drawPanel();
      }));
    }
    return wide;
  }

  /* The options that are shown unless all are asked for: the chosen one, the best, the likely. */
  function worthShowing(row, chosen) {
    function rank(option) {
      return option[0] === chosen || option[0] === row.best ? 2 : option[1];
    }
    return row.options.slice().sort(function (a, b) { return rank(b) - rank(a); }).slice(0, MOST);
  }

  function beliefTable(row, seat, names) {
    var wide = make("div", "scroll"), table = make("table", "beliefs");
    var head = table.createTHead().insertRow();
    [""].concat(data.noted).forEach(function (name) {
      var cell = head.appendChild(make("th"));
      cell.scope = "col";
      cell.appendChild(suited(name));
      if (/^[♦♥]$/.test(name)) { cell.className = "red"; }
    });
    var body = table.createTBody();
    row.holds.forEach(function (held, k) {
      if (k === seat) { return; }
      var line = body.insertRow(), name = line.appendChild(make("th", "", k + " " + names[k]));
      name.scope = "row";
      held.forEach(function (value, column) {
        var single = column < data.noted.length - 4;
        var cell = line.appendChild(make("td", single ? "heat" : "", single ? percent(value) : fixed(value, 1)));
        if (single) { cell.style.setProperty("--share", Math.min(1, value)); }
        if (!value) { cell.classList.add("zero"); }
      });
    });
    wide.appendChild(table);
    return wide;
  }

  function drawPanel() {
    var which = current(), move = which.moves[ply], row = which.decisions[ply];
    var panel = parts.panel;
    panel.textContent = "";
    if (ply === last()) {
      panel.appendChild(make("p", "eyebrow", "the hand is over"));
      panel.appendChild(make("h2", "say", "Points"));
      var list = make("ul", "points");
      which.penalties.forEach(function (points, seat) {
        var item = make("li");
        item.appendChild(make("span", "", seat + " " + which.names[seat]));
        item.appendChild(make("b", "final", String(points)));
        list.appendChild(item);
      });
      panel.appendChild(list);
      panel.appendChild(lossTable("Given away in this hand", which.names.map(function (name, seat) {
        return [seat + " " + name, "", which.losses[seat]];
      })));
      panel.appendChild(dearestList(which.dearest, "Its dearest decisions"));
      return;
    }
    var name = which.names[move[0]], choice = BlackMaria.cardText(move[1]);
    panel.appendChild(make("p", "eyebrow", "seat " + move[0] + " · " + name + " · " +
      (row ? data.phases[row.phase] : states[ply].stage)));
    if (viewer !== null && viewer !== move[0]) {
      panel.appendChild(make("h2", "say", "Seat " + viewer + " doesn't know what it weighs."));
      return;
    }
    if (!row) {
      var only = panel.appendChild(make("h2", "say"));
      only.appendChild(suited(choice + ", the only card it may choose."));
      return;
    }
    var said = panel.appendChild(make("h2", "say"));
    if (row.words) {
      said.appendChild(suited(row.words));
    } else if (move[1] === row.best) {
      said.appendChild(suited(choice + ": nothing better found."));
    } else {
      said.appendChild(suited(choice + ": " + BlackMaria.cardText(row.best) +
        (row.dear ? " is better." : " may be better; the difference is within noise.")));
    }
    var figures = panel.appendChild(make("dl", "figures"));
    [["given away", move[1] === row.best ? "0" : within(row.regret, row.error), row.dear ? "lost" : ""],
      [which.varies ? "hand will cost, less the others" : "hand will cost", fixed(row.cost, 1), ""],
      ["this trick costs", row.trick ? percent(row.options.filter(function (option) {
        return option[0] === move[1];
      })[0][4]) : "", ""]].forEach(function (figure) {
      if (!figure[1]) { return; }
      var box = figures.appendChild(make("div"));
      box.appendChild(make("dt", "", figure[0]));
      box.appendChild(make("dd", figure[2], figure[1]));
    });
    panel.appendChild(optionTable(row, move));
    panel.appendChild(make("h3", "", "Who it believes to hold what"));
    panel.appendChild(beliefTable(row, move[0], which.names));
  }

  function draw() {
    var which = current(), state = states[ply], move = which.moves[ply];
    var row = which.decisions[ply];
    if (viewer !== null) { state = seenBy(state, which, viewer); }
    if (move && (viewer === null || viewer === move[0])) {
      var marks = {};
      if (row && row.best !== move[1]) { marks[row.best] = "best"; }
      marks[move[1]] = row && row.dear ? "dear" : "chosen";
      state = Object.assign({}, state, {marks: marks});
    }
    BlackMaria.draw(parts.table, state, {});
    parts.place.textContent = ply + " / " + last();
    drawLine();
    drawPanel();
    document.body.dataset.hand = hand;
    document.body.dataset.ply = ply;
    if (window.history.replaceState) {
      window.history.replaceState(null, "", "#" + (hand + 1) + "." + ply);
    }
  }

  // --- the page

  function build() {
    var head = make("header", "head"), title = make("div", "title");
    title.appendChild(make("h1", "", "Where the points went"));
    title.appendChild(make("p", "quiet", data.title + ": " + count(data.hands.length, "hand", "hands") +
      ", reviewed by " + data.agent + " in " + data.worlds + " + " + 2 * data.worlds + " worlds" +
      (data.leftOut ? "; " + data.leftOut + " more in the file" : "")));
    head.appendChild(title);
    main.appendChild(head);
    if (data.damages.length) {
      var box = make("details", "damages");
      box.open = true;
      box.appendChild(make("summary", "", count(data.damages.length, "line", "lines") + " left out"));
      var list = box.appendChild(make("ul"));
      data.damages.forEach(function (damage) {
        list.appendChild(make("li", "", "line " + damage[0] + ": " + damage[1]));
      });
      main.appendChild(box);
    }
    if (!data.hands.length) { main.appendChild(make("p", "", "There is no hand to show.")); return; }

    if (data.dearest.length) {
      var top = make("section", "top");
      data.dearest.forEach(function (at) { top.appendChild(dearButton(at)); });
      top.setAttribute("aria-label", "the dearest decisions");
      main.appendChild(top);
    }

    parts.stage = main.appendChild(make("section", "stage"));
    var left = parts.stage.appendChild(make("div", "left")), bar = make("div", "tools");
    parts.hands = make("select");
    parts.hands.setAttribute("aria-label", "which hand");
    parts.hands.addEventListener("change", function () { go(Number(parts.hands.value), 0); });
    parts.views = make("select");
    parts.views.setAttribute("aria-label", "whose knowledge");
    parts.views.addEventListener("change", function () {
      viewer = Number(parts.views.value) < 0 ? null : Number(parts.views.value);
      draw();
    });
    bar.appendChild(parts.hands);
    bar.appendChild(parts.views);
    left.appendChild(bar);
    parts.table = left.appendChild(make("div"));
    var steps = left.appendChild(make("div", "steps"));
    function step(text, label, click) {
      var made = steps.appendChild(button("step", text, click));
      made.setAttribute("aria-label", label);
      made.title = label;
    }
    step("«", "to the start (Home)", function () { go(hand, 0); });
    step("‹", "back (←)", function () { go(hand, ply - 1); });
    parts.place = steps.appendChild(make("span", "quiet place"));
    step("›", "on (→)", function () { go(hand, ply + 1); });
    step("»", "to the end (End)", function () { go(hand, last()); });
    var next = button("step dear", "next dear one", function () { nextDear(1); });
    next.title = "to the next decision that gave points away (D)";
    steps.appendChild(next);
    parts.line = left.appendChild(make("div", "line"));
    parts.line.tabIndex = 0;
    parts.line.setAttribute("role", "slider");
    parts.line.setAttribute("aria-label", "cards of the hand");
    parts.line.setAttribute("aria-valuemin", 0);
    parts.line.addEventListener("click", function (event) {
      var bars = parts.line.children, nearest = 0;
      for (var k = 0; k < bars.length; k++) {
        if (bars[k].getBoundingClientRect().left <= event.clientX) { nearest = k; }
      }
      go(hand, nearest);
    });
    left.appendChild(make("p", "quiet keys",
      "← → step · ↑ ↓ tricks · Home End · PageUp PageDown hands · D dear ones"));
    parts.panel = parts.stage.appendChild(make("section", "panel"));
    parts.panel.setAttribute("aria-live", "polite");

    main.appendChild(lossTable("Points given away in a hand", data.players.map(function (player) {
      return [player.name, count(player.chairs, "chair", "chairs"), player.losses];
    }), "A card is tried in one lot of worlds and priced in another, so the prices are not " +
      "flattered: they may fall below 0 by chance. ± is a 95 % interval of the play-outs; other " +
      "hands would differ more. Play-outs take all seats to go on as the reviewer would."));
  }

  function toTrick(way) {
    for (var k = ply + way; k > 0 && k < last(); k += way) {
      if (!states[k].trick.length && states[k].stage !== states[k - 1].stage) { break; }
    }
    go(hand, k);
  }

  function key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.tagName === "SELECT") { return; }
    var doing = {
      ArrowRight: function () { go(hand, ply + 1); },
      ArrowLeft: function () { go(hand, ply - 1); },
      ArrowDown: function () { toTrick(1); },
      ArrowUp: function () { toTrick(-1); },
      Home: function () { go(hand, 0); },
      End: function () { go(hand, last()); },
      PageDown: function () { go(hand + 1, 0); },
      PageUp: function () { go(hand - 1, 0); },
      d: function () { nextDear(1); },
      D: function () { nextDear(-1); }
    }[event.key];
    if (doing) { event.preventDefault(); doing(); }
  }

  build();
  if (data.hands.length) {
    document.addEventListener("keydown", key);
    var asked = /^#(\d+)\.(\d+)$/.exec(window.location.hash);
    hand = -1;
    if (asked) { go(Number(asked[1]) - 1, Number(asked[2])); } else { go(0, 0); }
    window.addEventListener("hashchange", function () {
      var place = /^#(\d+)\.(\d+)$/.exec(window.location.hash);
      if (place) { go(Number(place[1]) - 1, Number(place[2])); }
    });
  }
  window.blackMariaReview = {seenBy: function (k, seat) { return seenBy(states[k], current(), seat); }};
})();
