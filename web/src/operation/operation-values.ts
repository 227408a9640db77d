import { limits } from '@homeport/contracts/limits';
import type { OperationSettings, OperationSettingsPatch } from '@homeport/contracts/operation-settings';

/** Values of the forms for settings of the operation: sizes in MB, the schedule in its parts. */

export type OperationName = keyof OperationSettingsPatch;
export type NumberName = 'backupKeep' | 'auditDays' | 'artifactMaxUploadBytes' | 'artifactQuotaMb';
export type Rhythm = 'none' | 'hourly' | 'daily' | 'weekly';
export type OperationValues = Record<NumberName, number | string> & {
  rhythm: Rhythm;
  weekday: string;
  time: string;
  backupWorkspaces: boolean;
};

const bytesPerMegabyte = 1024 * 1024;
export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
const numberNames = ['backupKeep', 'auditDays', 'artifactMaxUploadBytes', 'artifactQuotaMb'] as const;

/** Smallest and largest value of each number, as entered. */
export const bounds: Record<NumberName, { min: number; max: number }> = {
  backupKeep: { min: 1, max: limits.backupKeepMax },
  auditDays: { min: limits.auditDaysMin, max: limits.auditDaysMax },
  artifactMaxUploadBytes: { min: 1, max: limits.uploadBytesMax / bytesPerMegabyte },
  artifactQuotaMb: { min: 0, max: limits.artifactQuotaMbMax },
};

function isNumberName(name: string): name is NumberName {
  return numberNames.some((each) => each === name);
}

export function valuesOf(settings: OperationSettings): OperationValues {
  return {
    ...scheduleParts(settings.backupSchedule.value),
    backupKeep: settings.backupKeep.value,
    backupWorkspaces: settings.backupWorkspaces.value,
    auditDays: settings.auditDays.value,
    artifactMaxUploadBytes: Math.max(1, Math.round(settings.artifactMaxUploadBytes.value / bytesPerMegabyte)),
    artifactQuotaMb: settings.artifactQuotaMb.value,
  };
}

/** Numbers outside their bounds, by name. */
export function faultsOf(values: OperationValues, names: readonly OperationName[]): NumberName[] {
  return names.filter(isNumberName).filter((name) => {
    const number = values[name] === '' ? Number.NaN : Number(values[name]);
    return !(Number.isInteger(number) && number >= bounds[name].min && number <= bounds[name].max);
  });
}

/** The changed members among `names`; one that returns to its default is null. */
export function patchOf(
  values: OperationValues,
  settings: OperationSettings,
  names: readonly OperationName[],
): OperationSettingsPatch {
  const before = valuesOf(settings);
  const changed = names.filter(
    (name) => settings[name].source !== 'environment' && entered(values, name) !== entered(before, name),
  );
  const entries = changed.map((name) => {
    const value = entered(values, name);
    return [name, value === settings[name].default ? null : value];
  });
  return Object.fromEntries(entries);
}

/** The value of a setting as the endpoint takes it. */
function entered(values: OperationValues, name: OperationName): string | number | boolean | null {
  if (name === 'backupSchedule') return scheduleText(values);
  if (name === 'backupWorkspaces') return values.backupWorkspaces;
  return Number(values[name]) * (name === 'artifactMaxUploadBytes' ? bytesPerMegabyte : 1);
}

function scheduleText({ rhythm, weekday, time }: OperationValues): string | null {
  if (rhythm === 'none') return null;
  if (rhythm === 'hourly') return rhythm;
  return rhythm === 'daily' ? `daily ${time}` : `weekly ${weekday} ${time}`;
}

/** `weekly sunday 03:00`, with the defaults of an omitted day and time. */
function scheduleParts(schedule: string | null): Pick<OperationValues, 'rhythm' | 'weekday' | 'time'> {
  const [rhythm = 'none', ...rest] = (schedule ?? 'none').toLowerCase().split(' ');
  const weekday = rest.find((part) => weekdays.some((day) => day === part)) ?? 'sunday';
  const time = rest.find((part) => part.includes(':')) ?? '03:00';
  return { rhythm: rhythmOf(rhythm), weekday, time };
}

export function rhythmOf(text: string): Rhythm {
  return text === 'hourly' || text === 'daily' || text === 'weekly' ? text : 'none';
}

export function hasValidTime({ rhythm, time }: OperationValues): boolean {
  return rhythm === 'none' || rhythm === 'hourly' || /^\d\d:\d\d$/.test(time);
}
