/** When backups are due: `hourly`, `daily 03:00`, `weekly sunday 03:00`, in UTC. */
export type BackupSchedule = { every: 'hour' | 'day' | 'week'; weekday: number; minute: number };

const days = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const hourMs = 3_600_000;
const intervalHours = { hour: 1, day: 24, week: 168 };

/** Undefined if the text is not a schedule. */
export function parseSchedule(text: string): BackupSchedule | undefined {
  const [, every, day, time] = /^(hourly|daily|weekly)(?: ([a-z]+))?(?: (\d\d:\d\d))?$/i.exec(text.toLowerCase()) ?? [];
  const weekday = day === undefined ? 0 : days.indexOf(day);
  const [hours = 3, minutes = 0] = time?.split(':').map(Number) ?? [];
  if (every === undefined || weekday < 0 || hours > 23 || minutes > 59) return undefined;
  if (every === 'hourly')
    return day === undefined && time === undefined ? { every: 'hour', weekday, minute: 0 } : undefined;
  if (every === 'daily' && day !== undefined) return undefined;
  return { every: every === 'daily' ? 'day' : 'week', weekday, minute: hours * 60 + minutes };
}

/** The time between two backups, in milliseconds. */
export function intervalMs({ every }: BackupSchedule): number {
  return intervalHours[every] * hourMs;
}

/** The last time that the schedule named, at or before `now`. */
export function lastDue({ every, weekday, minute }: BackupSchedule, now: Date): Date {
  if (every === 'hour') return new Date(Math.floor(now.getTime() / hourMs) * hourMs);
  const due = new Date(now);
  due.setUTCHours(0, minute, 0, 0);
  if (every === 'week') due.setUTCDate(due.getUTCDate() - ((due.getUTCDay() - weekday + 7) % 7));
  if (due > now) due.setUTCDate(due.getUTCDate() - (every === 'week' ? 7 : 1));
  return due;
}
