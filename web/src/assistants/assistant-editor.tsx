import type { Assistant } from '@homeport/contracts/assistants';
import { useMediaQuery } from '@mantine/hooks';
import { MessageSquare, Pencil } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useId, useState } from 'react';
import { useText } from '../i18n/i18n.ts';
import { lazyComponent } from '../layout/lazy-component.tsx';
import { AssistantForm } from './assistant-form.tsx';
import { type AssistantValues, assistantValues, emptyValues } from './assistant-values.ts';
import classes from './preview/preview.module.css';

const AssistantPreview = lazyComponent(async () => (await import('./preview/assistant-preview.tsx')).AssistantPreview);

const narrow = '(max-width: 68rem)';
const views = [
  { id: 'edit', text: 'preview.edit', Icon: Pencil },
  { id: 'preview', text: 'preview.title', Icon: MessageSquare },
] as const;
type View = (typeof views)[number]['id'];

type Props = {
  assistant: Assistant | undefined;
  onDirty: (isDirty: boolean) => void;
  /** The card of its files. */
  knowledge: ReactNode;
  /** True beside an open file, where both views don't fit. */
  isCramped: boolean;
  onCreated?: (id: string) => void;
};

/** The form and a conversation with its current values: side by side, or in two tabs on narrow screens. */
export function AssistantEditor({ assistant, onDirty, knowledge, isCramped, onCreated }: Props) {
  const t = useText();
  const id = useId();
  const isNarrowWindow = useMediaQuery(narrow, window.matchMedia(narrow).matches, { getInitialValueInEffect: false });
  const isNarrow = isCramped || isNarrowWindow;
  const [view, setView] = useState<View>('edit');
  const [values, setValues] = useState<AssistantValues>(() => (assistant ? assistantValues(assistant) : emptyValues));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    event.preventDefault();
    const next = view === 'edit' ? 'preview' : 'edit';
    setView(next);
    document.getElementById(`${id}-${next}`)?.focus();
  };
  const panel = (each: View) =>
    isNarrow
      ? { role: 'tabpanel', id: `${id}-${each}-panel`, 'aria-labelledby': `${id}-${each}`, hidden: view !== each }
      : {};
  return (
    <>
      {isNarrow ? (
        <div className={classes.tabs} role="tablist" aria-label={t('preview.views')} onKeyDown={onKeyDown}>
          {views.map(({ id: each, text, Icon }) => (
            <button
              key={each}
              type="button"
              role="tab"
              id={`${id}-${each}`}
              aria-selected={view === each}
              aria-controls={`${id}-${each}-panel`}
              tabIndex={view === each ? 0 : -1}
              onClick={() => setView(each)}
            >
              <Icon size={15} aria-hidden />
              {t(text)}
            </button>
          ))}
        </div>
      ) : null}
      <div className={classes.editor} data-narrow={isNarrow || undefined}>
        <div {...panel('edit')}>
          <AssistantForm
            assistant={assistant}
            onDirty={onDirty}
            onValues={setValues}
            knowledge={knowledge}
            onCreated={onCreated}
          />
        </div>
        <div className={classes.beside} {...panel('preview')}>
          <AssistantPreview values={values} />
        </div>
      </div>
    </>
  );
}
