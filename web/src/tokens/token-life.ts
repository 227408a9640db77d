const usualDays = [7, 30, 90, 365];
const dayMs = 86_400_000;

/** Lifetimes to choose from, in days, or `none` where a token may last forever. */
export function lifeChoices(maxDays: number | null): string[] {
  if (maxDays === null) return [...usualDays.map(String), 'none'];
  return [...usualDays.filter((days) => days < maxDays), maxDays].map(String);
}

/** The end of a token that is created now. A minute less, as this clock and the server's may differ. */
export function endAfter(life: string, now: number): string | null {
  return life === 'none' ? null : new Date(now + Number(life) * dayMs - 60_000).toISOString();
}
