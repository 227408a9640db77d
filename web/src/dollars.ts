/** `amount` in millionths of a dollar. */
export function dollars(amount: number, locale: string): string {
  const value = amount / 1_000_000;
  const digits = value !== 0 && value < 0.1 ? { maximumSignificantDigits: 2 } : { minimumFractionDigits: 2 };
  return new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD', ...digits }).format(value);
}
