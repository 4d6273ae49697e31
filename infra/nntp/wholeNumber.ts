/** A whole number in decimal digits, exact up to 2^53 - 1; null for anything else (signs, text, larger ones). */
export function wholeNumber(text: string | undefined): number | null {
  if (text === undefined || !/^\d{1,32}$/.test(text)) return null;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : null;
}
