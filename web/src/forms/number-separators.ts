/** How a language writes large numbers, for number fields. */
export function numberSeparators(locale: string): { thousandSeparator: string; decimalSeparator: string } {
  const parts = new Intl.NumberFormat(locale, { useGrouping: 'always' }).formatToParts(12_345.6);
  const of = (type: Intl.NumberFormatPartTypes) => parts.find((part) => part.type === type)?.value;
  return { thousandSeparator: of('group') ?? '', decimalSeparator: of('decimal') ?? '.' };
}
