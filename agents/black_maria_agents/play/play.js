/* The page of a game: shows what the server says, one thing after the other, and sends wishes.

   The server knows the rules and the game; it refuses what can't be, and every wish names the
   number of things that this page has seen, so that a second click or an old page changes nothing.
   `table.js` draws. */
(function () {
  "use strict";

  const STEP = 420, TRICK = 1150; // milliseconds that a card and a whole trick are looked at
  const make = BlackMaria.make;
  const at = (id) => document.getElementById(id);

  let view = null;      // what the server said last
  let frames = [];      // states of this hand, oldest first
  let first = 1;        // number of frames[0]
  let shown = 0;        // number of the state that is drawn
  let picked = [];      // cards to pass, chosen here and not sent yet
  let busy = false;     // a wish is under way
  let opinion = null;   // advice on the decision that `view` asks for
  let timer = null;

  const words = (cards) => cards.slice().sort((a, b) => a - b).map(BlackMaria.cardText).join(" ");
  const waiting = () => view !== null && shown === view.number && !busy;

  /* --- asking ------------------------------------------------------------------------------- */

  async function ask(name, wish) {
    const options = {cache: "no-store"};
    if (wish) {
      options.method = "POST";
      options.headers = {"Content-Type": "application/json"};
      options.body = JSON.stringify(wish);
    }
    let answer;
    try {
      answer = await fetch(name, options);
    } catch (error) {
      throw new Error("The table has been closed: nobody answers. Start it again on the terminal.");
    }
    return answer.json();
  }

  /* Take in what the server says: its frames go on from those that are here, or are all of them. */
  function take(said) {
    const known = first + frames.length - 1;
    if (frames.length && said.first === known + 1) {
      frames = frames.concat(said.frames);
    } else if (said.frames.length) {
      frames = said.frames;
      first = said.first;
    }
    const over = Math.max(0, said.earliest - first); // of the hand before
    frames = frames.slice(over);
    first += over;
    view = said;
    picked = [];
    opinion = null;
    showAdvice();
  }

  async function wish(name, content) {
    if (busy) { return; }
    busy = true;
    document.body.classList.add("busy");
    buttons();
    let said = null;
    try {
      said = await ask(name, Object.assign({number: view.number, since: view.number}, content));
    } catch (error) {
      say(error.message, true);
      return;
    } finally {
      busy = false;
      document.body.classList.remove("busy");
      buttons();
    }
    if (said.frames) {
      const kept = picked, same = said.number === view.number;
      take(said);
      if (same) { picked = kept; }
    }
    if (!said.error) { say(""); }
    play();
    if (said.error) { say(said.error, true); }
  }

  /* --- showing ------------------------------------------------------------------------------ */

  /* Draw one state after another, up to the last. */
  function play() {
    clearTimeout(timer);
    if (shown < first || shown > view.number) { shown = first - 1; }
    if (shown < view.number) {
      shown += 1;
      draw();
      const state = frames[shown - first];
      const wait = state.taker === null ? STEP : TRICK;
      timer = setTimeout(play, shown < view.number ? wait : 0);
      return;
    }
    draw();
    buttons();
    if (!at("message").classList.contains("wrong")) { explain(); }
    sheet();
  }

  /* Somebody is in a hurry: all that has happened at once. */
  function hurry() {
    if (view === null || shown === view.number) { return false; }
    shown = view.number - 1;
    play();
    return true;
  }

  function draw() {
    const state = Object.assign({}, frames[shown - first]);
    const options = {};
    if (waiting() && (view.task === "play" || view.task === "pass")) {
      state.legal = view.legal;
      state.marks = {};
      picked.forEach((card) => { state.marks[card] = "chosen"; });
      if (opinion) {
        opinion.cards.forEach((card) => {
          state.marks[card] = (state.marks[card] ? state.marks[card] + " " : "") + "best";
        });
      }
      options.onCard = choose;
      options.onRefused = (card) => wish("choose", {cards: [card]});
      if (view.task === "pass") { options.onRefused = () => say("This card may not be passed.", true); }
    }
    BlackMaria.draw(at("table"), state, options);
  }

  function choose(card) {
    if (!waiting()) { return; }
    if (view.task === "play") {
      wish("choose", {cards: [card]});
      return;
    }
    const mine = frames[shown - first].places[view.seat].holding;
    const held = mine.filter((each) => each === card).length;
    const taken = picked.filter((each) => each === card).length;
    if (taken === held) {
      picked = picked.filter((each) => each !== card);
    } else if (picked.length < view.toPass) {
      picked.push(card);
    } else {
      say("That would be " + (view.toPass + 1) + ": click a chosen card to take it back.", true);
      return;
    }
    draw();
    buttons();
    explain();
  }

  function say(text, wrong) {
    at("message").textContent = text;
    at("message").classList.toggle("wrong", Boolean(wrong));
  }

  const name = (seat) => seat === view.seat ? "you" : view.names[seat] + " (seat " + seat + ")";

  function explain() {
    const got = view.received, last = frames[frames.length - 1];
    if (view.task === "pass") {
      say("Choose " + view.toPass + " cards for " + name(view.passesTo) +
        (picked.length ? ": " + words(picked) : "."));
    } else if (view.task === "play") {
      const early = got && last.places[view.seat].holding.length === most();
      say((early ? "From " + name(got[0]) + " you have " + words(got[1]) + ". " : "") +
        (last.trick.length ? "Your card." : "You lead."));
    } else if (view.task === "wait") {
      say("An opponent is to move.");
    } else {
      const points = view.hands[view.hands.length - 1];
      say((view.task === "over" ? "The match is over: " + winners() + " " : "") +
        "This hand: " + points.map((each, seat) => name(seat) + " " + each).join(", ") + ".");
    }
  }

  /* How many cards the person holds before its first card is played. */
  function most() {
    return Math.max.apply(null, frames.map((state) => state.places[view.seat].holding.length));
  }

  function winners() {
    const all = view.winners.map(name);
    return (all.length > 1 ? all.join(" and ") + " share the win." :
      all[0] + (view.winners[0] === view.seat ? " win!" : " wins."));
  }

  function buttons() {
    const act = at("act"), done = view.task === "next" || view.task === "over";
    const free = waiting();
    at("ask").hidden = view.advisor === null || done;
    at("ask").disabled = !free || !(view.task === "pass" || view.task === "play");
    at("review").hidden = !(view.reviewable && done && free);
    act.hidden = !(free && (done || view.task === "pass" || view.task === "wait"));
    act.disabled = view.task === "pass" && picked.length !== view.toPass;
    act.textContent = {pass: "Pass", next: "Next hand", over: "New match", wait: "Go on"}[view.task] || "";
    if (done && free && document.activeElement === document.body) { act.focus({preventScroll: true}); }
    at("note").textContent = view.note || "";
  }

  function sheet() {
    const box = at("sheet"), scroll = make("div", "scroll"), table = make("table");
    const head = table.createTHead().insertRow();
    head.appendChild(make("th", "", "hand"));
    view.names.forEach((each, seat) => {
      const brief = view.names.length > 4 && seat !== view.seat; // the numbers that the table has
      const cell = make("th", seat === view.seat ? "mine" : "", brief ? String(seat) : each);
      cell.title = each + ", seat " + seat;
      head.appendChild(cell);
    });
    const body = table.createTBody(), foot = table.createTFoot();
    const row = (where, label, points) => {
      const line = where.insertRow();
      line.appendChild(make("td", "", label));
      points.forEach((each, seat) => {
        line.appendChild(make("td", seat === view.seat ? "mine" : "", String(each)));
      });
    };
    view.hands.forEach((points, number) => row(body, String(number + 1), points));
    row(foot, "total", view.totals);
    scroll.appendChild(table);
    box.textContent = "";
    box.appendChild(make("h2", "", "Score"));
    box.appendChild(scroll);
    at("about").textContent = view.rules.replace(/_/g, " ") + ", " + view.names.length +
      " seats, hand " + (view.hands.length + (view.task === "next" || view.task === "over" ? 0 : 1));
  }

  /* --- advice ------------------------------------------------------------------------------- */

  async function advise() {
    if (!waiting() || at("ask").disabled || at("ask").hidden) { return; }
    const number = view.number;
    let said;
    try {
      said = await ask("advice?number=" + number);
    } catch (error) {
      say(error.message, true);
      return;
    }
    if (said.error || view.number !== number) {
      if (said.error) { say(said.error, true); }
      return;
    }
    opinion = said;
    showAdvice();
    if (waiting()) { draw(); }
  }

  function showAdvice() {
    const box = at("advice");
    box.textContent = "";
    box.hidden = opinion === null;
    if (opinion === null) { return; }
    const would = view.task === "pass" ? " would pass " : " would play ";
    box.appendChild(make("h2", "", opinion.name + would + words(opinion.cards)));
    opinion.chances.filter(([, chance], k) => chance >= 0.005 || k < 3).forEach(([card, chance]) => {
      const line = make("div", "chance"), track = make("span", "track"), bar = make("span", "bar");
      const suit = BlackMaria.suitOf(card);
      bar.style.width = (100 * chance).toFixed(1) + "%";
      track.appendChild(bar);
      line.appendChild(make("b", suit === 1 || suit === 2 ? "suit-red" : "", BlackMaria.cardText(card)));
      line.appendChild(track);
      line.appendChild(make("span", "", chance < 0.005 ? "<1 %" : Math.round(100 * chance) + " %"));
      box.appendChild(line);
    });
    if (view.task === "pass" && opinion.chances.length) {
      box.appendChild(make("p", "", "Chances of being the first card picked."));
    }
  }

  /* --- hands on the table -------------------------------------------------------------------- */

  function act() {
    if (!waiting() || at("act").disabled) { return; }
    if (view.task === "pass") { wish("choose", {cards: picked}); } else { wish("next", {}); }
  }

  function step(by) {
    const cards = Array.from(document.querySelectorAll("#table button.bm-legal"));
    if (!cards.length) { return; }
    const now = cards.indexOf(document.activeElement);
    const next = now < 0 ? (by > 0 ? 0 : cards.length - 1) : (now + by + cards.length) % cards.length;
    cards[next].focus();
  }

  at("act").addEventListener("click", act);
  at("ask").addEventListener("click", advise);
  at("review").href = "review";
  at("table").addEventListener("click", hurry);
  document.addEventListener("keydown", (event) => {
    if (view === null || event.ctrlKey || event.metaKey || event.altKey) { return; }
    const onButton = event.target.tagName === "BUTTON" || event.target.tagName === "A";
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      event.preventDefault();
      hurry();
      step(event.key === "ArrowRight" ? 1 : -1);
    } else if (event.key === "a" || event.key === "?") {
      advise();
    } else if ((event.key === "Enter" || event.key === " ") && !onButton) {
      event.preventDefault();
      if (!hurry()) { act(); }
    } else if (event.key === "Enter" && event.target.closest("#table") && !at("act").hidden &&
        !at("act").disabled) {
      event.preventDefault(); // all are chosen: Enter on a card passes them, Space takes it back
      act();
    }
  });

  ask("view").then((said) => {
    take(said);
    shown = view.number - 1; // who comes back sees how things stand
    sheet();
    buttons();
    play();
  }, (error) => say(error.message, true));
})();
