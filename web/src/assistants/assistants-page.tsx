import 'virtual:texts/instructions';
import 'virtual:texts/projects';
import 'virtual:texts/pages';
import 'virtual:texts/assistants';
import '../forms/forms.css';
import type { Assistant } from '@homeport/contracts/assistants';
import { limits } from '@homeport/contracts/limits';
import { Button, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus, Search } from 'lucide-react';
import { useState } from 'react';
import { Loading } from '../catalogue/catalogue-view.tsx';
import { useClientSession } from '../conversation/client-session.ts';
import { FormFailure } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { MoreButton } from '../layout/more-button.tsx';
import { EmptyState, Section } from '../layout/section.tsx';
import { AssistantCard } from './assistant-card.tsx';
import classes from './assistants.module.css';
import { assistantsQuery } from './assistants-api.ts';

const groups = ['own', 'project', 'everyone'] as const;
type Group = (typeof groups)[number];

/** `/assistants`: the assistants available to the person, with a search. */
export function AssistantsPage() {
  const t = useText();
  const { user } = useClientSession();
  const [text, setText] = useState('');
  const [q] = useDebouncedValue(text.trim(), 250);
  const query = useInfiniteQuery(assistantsQuery(q));
  const assistants = query.data?.pages.flatMap((page) => page.assistants) ?? [];
  const isEmpty = query.data !== undefined && assistants.length === 0;
  const add = (
    <Button
      renderRoot={(props) => <Link {...props} to="/assistants/$assistantId" params={{ assistantId: 'new' }} />}
      leftSection={<Plus size={16} aria-hidden />}
    >
      {t('assistants.new')}
    </Button>
  );
  return (
    <main id="content" tabIndex={-1} className={classes.page}>
      <div className={classes.column}>
        <Section
          title={t('assistants.title')}
          text={t('assistants.text')}
          action={isEmpty && q === '' ? undefined : add}
        >
          {isEmpty && q === '' ? null : (
            <TextInput
              type="search"
              value={text}
              maxLength={limits.searchMax}
              onChange={(event) => setText(event.currentTarget.value)}
              aria-label={t('assistants.search')}
              placeholder={t('assistants.search')}
              leftSection={<Search size={15} aria-hidden />}
            />
          )}
          <span role="status" className="visually-hidden">
            {q !== '' && query.data && !query.isPlaceholderData
              ? t('assistants.found', { count: assistants.length })
              : ''}
          </span>
          {query.error ? <FormFailure failure={query.error} /> : null}
          {query.data || query.error ? null : <Loading />}
          {groups.map((group) => (
            <Cards
              key={group}
              title={t(`assistants.${group}`)}
              assistants={assistants.filter((assistant) => groupOf(assistant, user.id) === group)}
            />
          ))}
          <MoreButton query={query} />
          {isEmpty && q !== '' ? (
            <EmptyState
              text={t('assistants.noHits', { query: q })}
              action={
                <Button variant="default" onClick={() => setText('')}>
                  {t('assistants.clear')}
                </Button>
              }
            />
          ) : null}
          {isEmpty && q === '' ? (
            <EmptyState title={t('assistants.emptyTitle')} text={t('assistants.emptyText')} action={add} />
          ) : null}
        </Section>
      </div>
    </main>
  );
}

function Cards({ title, assistants }: { title: string; assistants: readonly Assistant[] }) {
  if (assistants.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2 className={classes.groupTitle}>{title}</h2>
      <ul className={classes.cards}>
        {assistants.map((assistant) => (
          <AssistantCard key={assistant.id} assistant={assistant} />
        ))}
      </ul>
    </section>
  );
}

/** Groups the person's own assistants together, regardless of their audience. */
function groupOf({ ownerId, audience }: Assistant, userId: string): Group {
  if (ownerId === userId || audience === 'me') return 'own';
  return audience;
}
