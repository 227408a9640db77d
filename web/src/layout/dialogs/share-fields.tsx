import 'virtual:texts/shares';
import '../../forms/forms.css';
import type { Person } from '@homeport/contracts/projects';
import type { ShareAudience, SharingPolicy } from '@homeport/contracts/sharing';
import { NativeSelect } from '@mantine/core';
import { useText } from '../../i18n/i18n.ts';
import { PeoplePicker } from '../people-picker.tsx';

/** Fields of a share: its readers and its end. */

const ends = { day: 1, week: 7, month: 30, never: undefined } as const;
export type End = keyof typeof ends;
export const endNames = ['day', 'week', 'month', 'never'] as const satisfies readonly End[];

/** The time of the end; null for none. */
export function endOf(end: End): string | null {
  const days = ends[end];
  return days === undefined ? null : new Date(Date.now() + days * 86_400_000).toISOString();
}

/** The audiences that the installation allows, and the present one. */
function audiencesOf(policy: SharingPolicy, present: ShareAudience): ShareAudience[] {
  const isOpen = policy === 'public' || present === 'link';
  return isOpen ? ['link', 'signed_in', 'people'] : ['signed_in', 'people'];
}

type Props = {
  policy: SharingPolicy;
  audience: ShareAudience;
  people: readonly Person[];
  error: string | undefined;
  onAudience: (audience: ShareAudience) => void;
  onPeople: (people: Person[]) => void;
};

export function ReadersField({ policy, audience, people, error, onAudience, onPeople }: Props) {
  const t = useText();
  return (
    <>
      <NativeSelect
        label={t('share.audience')}
        value={audience}
        onChange={(event) => onAudience(event.currentTarget.value as ShareAudience)}
        data={audiencesOf(policy, audience).map((value) => ({ value, label: t(`share.audience.${value}`) }))}
      />
      {audience === 'people' ? (
        <PeoplePicker legend={t('share.people')} chosen={people} onChange={onPeople} error={error} />
      ) : null}
    </>
  );
}
