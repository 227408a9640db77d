import 'virtual:texts/backups';
import '../../forms/forms.css';
import { limits } from '@homeport/contracts/limits';
import { searchWords } from '@homeport/contracts/text/search-words';
import { Button, TextInput } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Search } from 'lucide-react';
import { useState } from 'react';
import { Loading } from '../../catalogue/catalogue-view.tsx';
import { ChoiceChips } from '../../forms/choice-chips.tsx';
import { FormFailure } from '../../forms/notice.tsx';
import { dateLocale } from '../../i18n/format-locale.ts';
import { useText } from '../../i18n/i18n.ts';
import { MoreButton } from '../../layout/more-button.tsx';
import { EmptyState, Section } from '../../layout/section.tsx';
import { OperationDialog } from '../../operation/operation-card.tsx';
import { auditQuery, directoryQuery } from '../admin-queries.ts';
import classes from './audit.module.css';
import { AuditRow } from './audit-row.tsx';
import {
  type AuditArea,
  areaOf,
  auditAreas,
  groupByDay,
  namedTargets,
  searchableText,
  sentenceOf,
} from './audit-sentences.ts';

/** `/settings/admin/audit` */
export function AuditPage() {
  const t = useText();
  const query = useInfiniteQuery(auditQuery);
  const { data: names } = useQuery(directoryQuery);
  const [text, setText] = useState('');
  const [area, setArea] = useState<AuditArea>('all');
  const [isKeeping, setKeeping] = useState(false);
  const events = query.data?.pages.flatMap((page) => page.events) ?? [];
  const words = searchWords(text);
  const known = new Map([...namedTargets(events), ...(names ?? [])]);
  const shown = events.filter((event) => {
    if (area !== 'all' && areaOf(event.action) !== area) return false;
    if (words.length === 0) return true;
    const haystack = searchableText(event, sentenceOf(event, known, t), known);
    return words.every((word) => haystack.includes(word));
  });
  const isFiltered = area !== 'all' || words.length > 0;
  return (
    <Section
      title={t('settings.audit')}
      text={t('audit.text', { zone: zoneName() })}
      action={
        <Button variant="default" onClick={() => setKeeping(true)}>
          {t('operation.audit')}
        </Button>
      }
    >
      {events.length > 0 ? (
        <div className={classes.tools}>
          <ChoiceChips
            legend={t('audit.area')}
            isLegendHidden
            options={auditAreas.map((value) => ({ value, label: t(`audit.area.${value}`) }))}
            value={area}
            onChange={setArea}
          />
          <TextInput
            type="search"
            value={text}
            maxLength={limits.searchMax}
            onChange={(event) => setText(event.currentTarget.value)}
            aria-label={t('audit.search')}
            placeholder={t('audit.search')}
            leftSection={<Search size={15} aria-hidden />}
          />
          <p role="status" className={classes.count}>
            {isFiltered ? t('audit.found', { shown: shown.length, count: events.length }) : ''}
          </p>
        </div>
      ) : null}
      {query.error ? <FormFailure failure={query.error} /> : null}
      {query.data || query.error ? null : <Loading />}
      {query.data && events.length === 0 ? (
        <EmptyState title={t('audit.emptyTitle')} text={t('audit.emptyText')} />
      ) : null}
      {groupByDay(shown).map(({ day, events: ofDay }) => (
        <section key={day} className={classes.day}>
          <h2 className={classes.dayTitle}>
            {new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'full' }).format(new Date(ofDay[0]?.at ?? ''))}
          </h2>
          <ol className={classes.events}>
            {ofDay.map((event) => (
              <AuditRow key={event.id} event={event} names={known} />
            ))}
          </ol>
        </section>
      ))}
      {events.length > 0 && shown.length === 0 ? (
        <EmptyState text={t(query.hasNextPage ? 'audit.noHitsYet' : 'audit.noHits')} />
      ) : null}
      <MoreButton query={query} />
      {isKeeping ? (
        <OperationDialog title="operation.auditTitle" names={['auditDays']} onClose={() => setKeeping(false)} />
      ) : null}
    </Section>
  );
}

/** `Europe/Berlin (GMT+1)` */
function zoneName(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const parts = new Intl.DateTimeFormat(dateLocale(), { timeZoneName: 'short' }).formatToParts(new Date());
  const short = parts.find((part) => part.type === 'timeZoneName')?.value ?? '';
  return short === '' || short === timeZone ? timeZone : `${timeZone}, ${short}`;
}
