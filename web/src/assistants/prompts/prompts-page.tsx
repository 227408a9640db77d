import 'virtual:texts/instructions';
import 'virtual:texts/projects';
import 'virtual:texts/pages';
import 'virtual:texts/assistants';
import '../../forms/forms.css';
import { limits } from '@homeport/contracts/limits';
import type { Prompt } from '@homeport/contracts/prompts';
import { Button, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Plus, Search } from 'lucide-react';
import { useState } from 'react';
import { Loading } from '../../catalogue/catalogue-view.tsx';
import { FormFailure } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import { FormDialog } from '../../layout/dialogs/form-dialog.tsx';
import { MoreButton } from '../../layout/more-button.tsx';
import { EmptyState, Section } from '../../layout/section.tsx';
import { PromptForm } from './prompt-form.tsx';
import { PromptRow } from './prompt-row.tsx';
import { PromptTransfer } from './prompt-transfer.tsx';
import classes from './prompts.module.css';
import { promptsQuery } from './prompts-api.ts';

/** `/settings/prompts`: saved texts to insert in the message field. */
export function PromptsPage() {
  const t = useText();
  const [text, setText] = useState('');
  const [q] = useDebouncedValue(text.trim(), 250);
  const [edited, setEdited] = useState<Prompt | 'new'>();
  const query = useInfiniteQuery(promptsQuery(q));
  const prompts = query.data?.pages.flatMap((page) => page.prompts) ?? [];
  const isEmpty = query.data !== undefined && prompts.length === 0;
  const isBare = isEmpty && q === '';
  const close = () => setEdited(undefined);
  const add = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setEdited('new')}>
      {t('prompts.new')}
    </Button>
  );
  return (
    <Section title={t('settings.prompts')} text={t('prompts.text')} action={isBare ? undefined : add}>
      {isBare ? null : (
        <TextInput
          type="search"
          value={text}
          maxLength={limits.searchMax}
          onChange={(event) => setText(event.currentTarget.value)}
          aria-label={t('prompts.search')}
          placeholder={t('prompts.search')}
          leftSection={<Search size={15} aria-hidden />}
        />
      )}
      <span role="status" className="visually-hidden">
        {q !== '' && query.data && !query.isPlaceholderData ? t('prompts.found', { count: prompts.length }) : ''}
      </span>
      {query.error ? <FormFailure failure={query.error} /> : null}
      {query.data || query.error ? null : <Loading />}
      {prompts.length > 0 ? (
        <ul className={classes.list} aria-label={t('settings.prompts')}>
          {prompts.map((prompt) => (
            <PromptRow key={prompt.id} prompt={prompt} onEdit={() => setEdited(prompt)} />
          ))}
        </ul>
      ) : null}
      <MoreButton query={query} />
      {isBare ? <EmptyState title={t('prompts.emptyTitle')} text={t('prompts.emptyText')} action={add} /> : null}
      {isEmpty && q !== '' ? (
        <EmptyState
          text={t('prompts.noHits', { query: q })}
          action={
            <Button variant="default" onClick={() => setText('')}>
              {t('assistants.clear')}
            </Button>
          }
        />
      ) : null}
      <PromptTransfer hasPrompts={!isBare} />
      {edited === undefined ? null : (
        <FormDialog title={t(edited === 'new' ? 'prompts.newTitle' : 'prompts.editTitle')} onClose={close}>
          {({ onDirty, cancel }) => (
            <PromptForm
              prompt={edited === 'new' ? undefined : edited}
              onSaved={close}
              onDirty={onDirty}
              beside={cancel}
            />
          )}
        </FormDialog>
      )}
    </Section>
  );
}
