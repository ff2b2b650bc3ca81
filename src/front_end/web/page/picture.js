// Positions as drawings.
"use strict";

/** How long a piece takes from one square to another, and a captured one to vanish. */
const SLIDE_MS = 200;
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** The pieces of a FEN: square to letter. */
function pieces(fen) {
  const found = new Map();
  fen.split(" ")[0].split("/").forEach((row, index) => {
    let file = 0;
    for (const sign of row) {
      if (sign >= "1" && sign <= "8") file += Number(sign);
      else found.set("abcdefgh"[file++] + (8 - index), sign);
    }
  });
  return found;
}

function inWords(found) {
  const side = (test) => [...found].filter(([, sign]) => test(sign)).map(([square, sign]) => pieceName(sign) + " " + square).join(", ");
  return t("both", { white: side((sign) => sign < "a"), black: side((sign) => sign > "Z") });
}

/** The two squares of a move. */
const ends = (uci) => [uci.slice(0, 2), uci.slice(2, 4)];

/** A drawing of a position, which is kept and changed. */
class Picture {
  constructor(into) {
    this.svg = drawn("svg", { class: "chess", viewBox: "0 0 800 800", role: "img" });
    [this.squares, this.under, this.names, this.stand, this.over] = [0, 1, 2, 3, 4].map(() => drawn("g", {}, this.svg));
    into.append(this.svg);
    this.turned = null;
    this.shown = null;
    /** Square to its piece: the sign, and what is drawn. */
    this.pieces = new Map();
  }

  at(square) {
    const file = square.charCodeAt(0) - 97, rank = Number(square[1]) - 1;
    return this.turned ? [(7 - file) * 100, rank * 100] : [file * 100, (7 - rank) * 100];
  }

  /** marks: squares by kind (last, check, make below the pieces, wrong, awaited above), arrows ([from, to, class]). */
  show(fen, marks, turned, label) {
    const key = JSON.stringify([fen, marks, turned, label]);
    if (key === this.shown) return;
    this.shown = key;
    const found = pieces(fen);
    this.svg.setAttribute("aria-label", label + " " + inWords(found));
    if (turned !== this.turned) this.turn(turned);
    this.move(found);
    this.under.replaceChildren();
    this.over.replaceChildren();
    for (const kind of ["last", "make", "check"]) {
      for (const square of marks[kind] || []) this.mark(square, kind, 0, this.under);
    }
    for (const kind of ["wrong", "awaited"]) {
      for (const square of marks[kind] || []) this.mark(square, kind, 5, this.over);
    }
    for (const [from, to, kind] of marks.arrows || []) this.arrow(from, to, kind);
  }

  /** An empty board, this way round. */
  turn(turned) {
    this.turned = turned;
    this.squares.replaceChildren();
    this.names.replaceChildren();
    this.stand.replaceChildren();
    this.pieces.clear();
    for (let rank = 1; rank <= 8; rank++) {
      for (const file of "abcdefgh") {
        const [x, y] = this.at(file + rank);
        const isDark = (file.charCodeAt(0) + rank) % 2 === 0;
        drawn("rect", { x, y, width: 100, height: 100, class: isDark ? "d" : "l" }, this.squares);
        if (x === 0) drawn("text", { x: 4, y: y + 23 }, this.names).textContent = rank;
        if (y === 700) drawn("text", { x: x + 83, y: 794 }, this.names).textContent = file;
      }
    }
  }

  /** Pieces go to where they are now; what was captured fades. */
  move(found) {
    const animated = this.pieces.size > 0 && !still.matches && !document.hidden;
    const gone = [...this.pieces].filter(([square, { sign }]) => found.get(square) !== sign);
    const come = [...found].filter(([square, sign]) => this.pieces.get(square)?.sign !== sign);
    for (const [square] of gone) this.pieces.delete(square);
    for (const [square, sign] of come) {
      const [x, y] = this.at(square);
      const index = gone.findIndex(([, piece]) => piece.sign === sign);
      let piece;
      if (index < 0) {
        const use = drawn("use", { href: "#" + sign.toLowerCase(), width: 90, height: 90, class: sign < "a" ? "w" : "b" });
        piece = { sign, use };
      } else {
        const [[from, moved]] = gone.splice(index, 1);
        piece = moved;
        const [fromX, fromY] = this.at(from);
        const slide = [{ transform: `translate(${fromX - x}px, ${fromY - y}px)` }, { transform: "none" }];
        if (animated) piece.use.animate(slide, { duration: SLIDE_MS, easing: "ease-out" });
      }
      piece.use.setAttribute("x", x + 5);
      piece.use.setAttribute("y", y + 5);
      // Above those that it passes.
      this.stand.append(piece.use);
      this.pieces.set(square, piece);
    }
    for (const [, { use }] of gone) {
      if (animated) use.animate([{ opacity: 1 }, { opacity: 0 }], { duration: SLIDE_MS }).onfinish = () => use.remove();
      else use.remove();
    }
  }

  mark(square, kind, inset, into) {
    const [x, y] = this.at(square).map((v) => v + inset);
    const size = 100 - 2 * inset;
    drawn("rect", { x, y, width: size, height: size, rx: inset, class: kind, "data-square": square }, into);
  }

  arrow(from, to, kind) {
    const [x1, y1] = this.at(from).map((v) => v + 50);
    const [x2, y2] = this.at(to).map((v) => v + 50);
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    const [ex, ey] = [x2 - dx * 38, y2 - dy * 38];
    drawn("path", { d: `M${x1} ${y1}L${ex} ${ey}`, class: "arrow " + kind, "data-arrow": from + to }, this.over);
    const points = [[x2, y2], [ex - dy * 24, ey + dx * 24], [ex + dy * 24, ey - dx * 24]];
    drawn("polygon", { points: points.map((p) => p.join(",")).join(" "), class: "head " + kind }, this.over);
  }
}
