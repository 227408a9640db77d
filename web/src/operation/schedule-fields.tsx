import '../forms/forms.css';
import { NativeSelect, TextInput } from '@mantine/core';
import type { ApiForm } from '../forms/use-api-form.ts';
import { dateLocale } from '../i18n/format-locale.ts';
import { useText } from '../i18n/i18n.ts';
import classes from './operation.module.css';
import { type OperationValues, rhythmOf, weekdays } from './operation-values.ts';

type Props = { form: ApiForm<OperationValues>['form']; isFixed: boolean; hint: string | undefined };

/** The rhythm of automatic backups, with day and time in UTC. */
export function ScheduleFields({ form, isFixed, hint }: Props) {
  const t = useText();
  const { rhythm, weekday } = form.values;
  return (
    <div className={classes.schedule}>
      <NativeSelect
        label={t('operation.backupSchedule')}
        description={hint}
        error={form.errors.rhythm}
        disabled={isFixed}
        value={rhythm}
        data={(['none', 'hourly', 'daily', 'weekly'] as const).map((value) => ({
          value,
          label: t(`operation.rhythm.${value}`),
        }))}
        onChange={(event) => form.setFieldValue('rhythm', rhythmOf(event.currentTarget.value))}
      />
      {rhythm === 'weekly' ? (
        <NativeSelect
          label={t('operation.weekday')}
          disabled={isFixed}
          value={weekday}
          data={weekdays.map((value, index) => ({ value, label: dayName(index) }))}
          onChange={(event) => form.setFieldValue('weekday', event.currentTarget.value)}
        />
      ) : null}
      {rhythm === 'daily' || rhythm === 'weekly' ? (
        <TextInput
          {...form.getInputProps('time')}
          type="time"
          required={false}
          disabled={isFixed}
          label={t('operation.time')}
        />
      ) : null}
    </div>
  );
}

/** A day of the week, from Monday (0) to Sunday (6), in the language of the page. */
function dayName(index: number): string {
  const date = new Date(Date.UTC(2024, 0, 1 + index));
  return new Intl.DateTimeFormat(dateLocale(), { weekday: 'long', timeZone: 'UTC' }).format(date);
}
