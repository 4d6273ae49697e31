/**
 * Whether the whole text fits the pattern; `*` stands for any characters, `?` for one. Takes at most as many steps as the
 * product of both lengths, so that no pattern can stall a command.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  let [p, t] = [0, 0];
  // Where to go on when the last star has to take one character more.
  let [star, taken] = [-1, 0];
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++taken;
    } else return false;
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}
