import { dateLocale } from '../../i18n/format-locale.ts';

/** Making a format costs more than using it a hundred times. */
const formats = new Map<string, { time: Intl.DateTimeFormat; date: Intl.DateTimeFormat; full: Intl.DateTimeFormat }>();

/** When a message was written: the time of day, and the date before it unless that is today. */
export function MessageTime({ at }: { at: string }) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return null;
  const { time, date: dated, full } = formatsOf(dateLocale());
  const isToday = date.toDateString() === new Date().toDateString();
  return (
    <time dateTime={at} title={full.format(date)}>
      {(isToday ? time : dated).format(date)}
    </time>
  );
}

function formatsOf(locale: string) {
  const known = formats.get(locale);
  if (known) return known;
  const made = {
    time: new Intl.DateTimeFormat(locale, { timeStyle: 'short' }),
    date: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }),
    full: new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'medium' }),
  };
  formats.set(locale, made);
  return made;
}
