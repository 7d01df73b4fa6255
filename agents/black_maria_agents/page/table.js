/* A table of Black Maria, drawn from one plain object. No library, no build step, no request.

   BlackMaria.draw(element, state, options) draws `state` into `element`, in place of what was
   there. It may be called as often as the state changes. Widths from 300 px on fit, by CSS alone.

   A card is its id, 13 * suit + rank: suits ♣ 0, ♦ 1, ♥ 2, ♠ 3; ranks 2 → 0 … A → 12.

   state = {                                 // `state_of(scene)` of assets.py makes it in Python
     stage: "trick 3 of 17",                 // what is going on, in the middle and read aloud
     near: 0,                                // the seat at the bottom; the others go clockwise
     places: [{                              // one for every seat, 3 to 10 of them
       name: "player_0",                     // any text: it is never read as markup
       holding: [3, 17], hidden: 0,          // known cards, and how many lie face down
       picked: [], pickedHidden: 0,          // set aside to pass, while that lasts
       captured: [49],                       // cards taken that cost or bring something
       penalties: 13, total: 40,             // of this hand, and of the match
       dealer: false, toMove: true, absent: false, winner: false
     }],
     trick: [[1, 25]],                       // [seat, card] in order; [] before the lead
     last: [], taker: null,                  // the trick taken last, shown until the next lead
     cancelled: [],                          // [seat, card] that nobody has taken yet
     kitty: [], kittyHidden: 0,              // cards for the first taker
     // each of these may be left out:
     legal: [3, 17],                         // cards of the near seat that can be chosen
     marks: {"3": "chosen best"}             // card of the seat to move → classes bm-chosen, …
   }
   Marks there are: "chosen" (gold: played, or picked), "best" (green), "dear" (red).

   options = {
     onCard: function (card) {},             // a legal card was clicked, or Enter or Space on it
     onRefused: function (card) {}           // another card of the near seat was clicked
   }
   Both may be left out. Without `state.legal`, or without `onCard`, nothing can be clicked and
   cards look the same; with both, legal cards are buttons that Tab reaches and others are dimmed.
   The focus stays on a card when the table is drawn again, or goes to its right neighbour.

   BlackMaria.cardText(49) is "Q♠", BlackMaria.cardWords(49) "queen of spades";
   BlackMaria.card(49) a drawn card, an element; BlackMaria.make("p", "class", "text") any element. */
var BlackMaria = (function () {
  "use strict";

  var SVG = "http://www.w3.org/2000/svg";
  var RANKS = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"];
  var SPOKEN = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack",
    "queen", "king", "ace"];
  var SUITS = ["clubs", "diamonds", "hearts", "spades"];
  var SYMBOLS = "♣♦♥♠";
  var SHAPES = [ // in a square of 100
    "M50 3a22 22 0 0 1 17 36a22 22 0 1 1-12 35q2 14 13 23H32q11-9 13-23a22 22 0 1 1-12-35a22 22 0 0 1 17-36z",
    "M50 2L88 50L50 98L12 50z",
    "M50 95C38 80 3 58 3 30C3 14 15 5 27 5C38 5 46 12 50 21C54 12 62 5 73 5C85 5 97 14 97 30C97 58 62 80 50 95z",
    "M50 3C61 20 95 40 95 62C95 76 85 83 74 83C66 83 59 79 55 73Q57 88 68 97H32Q43 88 45 73C41 79 34 83 26 83C15 83 5 76 5 62C5 40 39 20 50 3z"
  ];
  // How many seats sit at the top and at either side, by the number of seats.
  var TOP_AND_SIDE = {3: [2, 0], 4: [1, 1], 5: [2, 1], 6: [3, 1], 7: [2, 2], 8: [3, 2], 9: [2, 3],
    10: [3, 3]};

  function suitOf(card) { return Math.floor(card / 13); }
  function rankOf(card) { return card % 13; }
  function cardText(card) { return RANKS[rankOf(card)] + SYMBOLS[suitOf(card)]; }
  function cardWords(card) { return SPOKEN[rankOf(card)] + " of " + SUITS[suitOf(card)]; }
  function isRed(card) { return suitOf(card) === 1 || suitOf(card) === 2; }

  /* An element with a class and a text. */
  function make(tag, className, text) {
    var element = document.createElement(tag);
    if (className) { element.className = className; }
    if (text !== undefined) { element.textContent = text; }
    return element;
  }

  function suitShape(suit, className) {
    var svg = document.createElementNS(SVG, "svg"), path = document.createElementNS(SVG, "path");
    svg.setAttribute("viewBox", "0 0 100 100");
    svg.setAttribute("class", className);
    svg.setAttribute("aria-hidden", "true");
    path.setAttribute("d", SHAPES[suit]);
    svg.appendChild(path);
    return svg;
  }

  /* A card's face, or its back for null. */
  function card(id, tag) {
    var face = make(tag || "span", "bm-card");
    if (id === null) {
      face.className += " bm-back";
      face.setAttribute("aria-hidden", "true");
      return face;
    }
    face.className += isRed(id) ? " bm-red" : " bm-black";
    face.dataset.card = id;
    face.setAttribute("aria-label", cardWords(id));
    if (face.tagName === "SPAN") { face.setAttribute("role", "img"); }
    face.appendChild(make("b", RANKS[rankOf(id)] === "10" ? "bm-ten" : "", RANKS[rankOf(id)]));
    face.appendChild(suitShape(suitOf(id), "bm-small"));
    face.appendChild(suitShape(suitOf(id), "bm-large"));
    return face;
  }

  /* A small label with a text and a suit, for captured cards. */
  function chip(text, suit) {
    var label = make("span", "bm-chip" + (suit === 1 || suit === 2 ? " bm-red" : " bm-black"));
    label.appendChild(make("b", "", text));
    label.appendChild(suitShape(suit, "bm-tiny"));
    return label;
  }

  function captured(cards, most) {
    var row = make("div", "bm-captured"), hearts = 0, words = cards.map(cardWords).join(", ");
    row.setAttribute("role", "img");
    row.setAttribute("aria-label", "took " + (words || "nothing that counts"));
    cards.forEach(function (id) { hearts += suitOf(id) === 2; });
    var counted = cards.length > most && hearts > 1;
    if (counted) { row.appendChild(chip(hearts + "×", 2)); }
    cards.forEach(function (id) {
      if (!counted || suitOf(id) !== 2) { row.appendChild(chip(RANKS[rankOf(id)], suitOf(id))); }
    });
    return row;
  }

  /* Cards side by side, in two tiers where there is little room (CSS decides). */
  function fan(cards, hidden, drawOne) {
    var row = make("div", "bm-fan"), all = [], half;
    for (var k = 0; k < hidden; k++) { all.push(null); }
    all = all.concat(cards);
    half = all.length > 9 && !hidden ? Math.ceil(all.length / 2) : all.length;
    [all.slice(0, half), all.slice(half)].forEach(function (part) {
      if (!part.length) { return; }
      var tier = make("div", "bm-tier");
      part.forEach(function (id) {
        var slot = make("div", "bm-slot");
        slot.appendChild(drawOne(id));
        tier.appendChild(slot);
      });
      row.appendChild(tier);
    });
    var slots = row.querySelectorAll(".bm-slot");
    slots.forEach(function (slot, k) {
      var off = k - (slots.length - 1) / 2, wide = Math.max(slots.length, 8);
      slot.style.setProperty("--turn", (off / wide * 8).toFixed(2) + "deg");
      slot.style.setProperty("--droop", (0.4 * off * off / wide / wide).toFixed(3));
    });
    if (hidden) { row.appendChild(make("span", "bm-count", String(hidden))); }
    return row;
  }

  function place(state, seat, options) {
    var at = state.places[seat], near = seat === state.near;
    var box = make("section", "bm-place" + (near ? " bm-near" : "") +
      (at.toMove ? " bm-turn" : "") + (at.absent ? " bm-absent" : ""));
    box.dataset.seat = seat;
    box.setAttribute("aria-label", at.name + (at.dealer ? ", dealer" : "") +
      (at.toMove ? ", to move" : "") + (at.winner ? ", wins" : "") + ": " + at.penalties +
      " this hand, total " + at.total + (at.hidden ? ", " + at.hidden + " cards unseen" : ""));
    var plate = make("div", "bm-plate");
    plate.appendChild(make("span", "bm-number", String(seat)));
    plate.appendChild(make("span", "bm-name", at.name));
    if (at.dealer) { plate.appendChild(make("span", "bm-dealer", "D")).title = "dealer"; }
    if (at.winner) { plate.appendChild(make("span", "bm-winner", "★")).title = "wins"; }
    var points = make("span", "bm-points");
    points.appendChild(make("span", "bm-wide", "hand "));
    points.appendChild(make("b", "", String(at.penalties)));
    points.appendChild(make("span", "", " · "));
    points.appendChild(make("span", "bm-wide", "total "));
    points.appendChild(make("span", "", String(at.total)));
    plate.appendChild(points);
    box.appendChild(plate);
    box.appendChild(captured(at.captured, near ? 14 : 6));
    if (at.absent) {
      box.appendChild(make("p", "bm-out", "sits out"));
      return box;
    }
    var choosing = near && state.legal && options.onCard;
    box.appendChild(fan(at.holding, at.hidden, function (id) {
      var face, legal = choosing && state.legal.indexOf(id) >= 0;
      face = card(id, choosing && id !== null ? "button" : "span");
      if (choosing && id !== null) {
        face.type = "button";
        face.classList.add(legal ? "bm-legal" : "bm-illegal");
        if (!legal) {
          face.setAttribute("aria-disabled", "true");
          face.tabIndex = -1;
        }
        face.addEventListener("click", function () {
          var call = legal ? options.onCard : options.onRefused;
          if (call) { call(id); }
        });
      }
      if (at.toMove && state.marks && state.marks[id]) {
        state.marks[id].split(" ").forEach(function (mark) { face.classList.add("bm-" + mark); });
      }
      return face;
    }));
    return box;
  }

  /* The trick, or what was picked to pass, around what is going on. */
  function centre(state) {
    var middle = make("div", "bm-centre"), seats = state.places.length;
    var shown = state.trick.length ? state.trick : state.last;
    function put(element, seat, shift) {
      var angle = Math.PI / 2 + 2 * Math.PI * ((seat - state.near + seats) % seats) / seats;
      element.classList.add("bm-spot");
      element.style.setProperty("--x", Math.cos(angle).toFixed(4));
      element.style.setProperty("--y", Math.sin(angle).toFixed(4));
      element.style.setProperty("--shift", shift.toFixed(2));
      middle.appendChild(element);
    }
    state.places.forEach(function (at, seat) {
      var picked = [];
      for (var k = 0; k < at.pickedHidden; k++) { picked.push(null); }
      picked = picked.concat(at.picked);
      picked.forEach(function (id, k) { put(card(id), seat, k - (picked.length - 1) / 2); });
    });
    shown.forEach(function (play) {
      var face = card(play[1]);
      face.setAttribute("aria-label", state.places[play[0]].name + ": " + cardWords(play[1]));
      if (!state.trick.length) {
        face.classList.add(play[0] === state.taker ? "bm-taken" : "bm-past");
      }
      face.appendChild(make("i", "bm-badge", String(play[0])));
      put(face, play[0], 0);
    });
    var words = make("div", "bm-words");
    words.appendChild(make("strong", "", state.stage));
    if (state.taker !== null && state.taker !== undefined) {
      words.appendChild(make("span", "", state.places[state.taker].name + " took it"));
    }
    var pile = state.cancelled.map(function (play) { return play[1]; });
    if (pile.length) { words.appendChild(make("span", "", pile.length + " cancelled")); }
    var aside = state.kitty.length + state.kittyHidden;
    if (aside) { words.appendChild(make("span", "", aside + " aside")); }
    if (pile.length + aside) {
      words.appendChild(fan(pile.concat(state.kitty), state.kittyHidden, function (id) {
        return card(id);
      }));
    }
    middle.appendChild(words);
    return middle;
  }

  function spoken(state) {
    var words = [state.stage];
    state.trick.forEach(function (play) {
      words.push(state.places[play[0]].name + ": " + cardWords(play[1]));
    });
    state.places.forEach(function (at) { if (at.toMove) { words.push(at.name + " to move"); } });
    return words.join("; ");
  }

  function focused(element) {
    var at = document.activeElement;
    if (!at || !element.contains(at) || !at.dataset.card) { return null; }
    var cards = Array.prototype.slice.call(element.querySelectorAll("button.bm-legal"));
    return {card: at.dataset.card, place: cards.indexOf(at)};
  }

  function refocus(element, before) {
    if (!before) { return; }
    var cards = element.querySelectorAll("button.bm-legal");
    var same = element.querySelector('button.bm-legal[data-card="' + before.card + '"]');
    var next = same || cards[Math.min(Math.max(before.place, 0), cards.length - 1)];
    if (next) { next.focus(); }
  }

  function draw(element, state, options) {
    var seats = state.places.length, before = focused(element);
    var top = TOP_AND_SIDE[seats][0], side = TOP_AND_SIDE[seats][1];
    var felt = make("div", "bm-felt bm-seats-" + seats + " bm-sides-" + side);
    felt.setAttribute("role", "group");
    felt.setAttribute("aria-label", "the table");
    var rows = {left: make("div", "bm-left"), top: make("div", "bm-top"),
      right: make("div", "bm-right")};
    for (var k = 1; k < seats; k++) {
      var where = k <= side ? "left" : k <= side + top ? "top" : "right";
      var box = place(state, (state.near + k) % seats, options || {});
      box.style.order = where === "left" ? seats - k : k; // the left side is read upwards
      rows[where].appendChild(box);
    }
    felt.appendChild(rows.left);
    felt.appendChild(rows.top);
    felt.appendChild(rows.right);
    felt.appendChild(centre(state));
    felt.appendChild(place(state, state.near, options || {}));
    var said = element.querySelector(":scope > .bm-said");
    if (!said) {
      element.textContent = "";
      element.classList.add("bm-table");
      said = element.appendChild(make("p", "bm-said"));
      said.setAttribute("aria-live", "polite");
    }
    if (said.textContent !== spoken(state)) { said.textContent = spoken(state); }
    var old = element.querySelector(":scope > .bm-felt");
    if (old) { element.replaceChild(felt, old); } else { element.appendChild(felt); }
    refocus(element, before);
  }

  return {draw: draw, card: card, chip: chip, make: make, cardText: cardText,
    cardWords: cardWords, suitOf: suitOf, rankOf: rankOf};
})();
