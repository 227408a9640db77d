import type { Token } from 'marked';
import { createContext, type MouseEvent, type ReactNode, useContext, useId, useMemo } from 'react';
import { useText } from '../i18n/i18n.ts';
import classes from './markdown.module.css';
import { type Footnote, orderedFootnotes } from './parser/footnotes.ts';

type Notes = { prefix: string; labels: readonly string[] };

/** The notes of the surrounding message. */
const NotesContext = createContext<Notes>({ prefix: '', labels: [] });

type Props = { tokens: readonly Token[]; content: (note: Footnote) => ReactNode; children: ReactNode };

/** A message with its notes below it, numbered by their first references. */
export function WithFootnotes({ tokens, content, children }: Props) {
  const t = useText();
  const prefix = useId();
  const notes = useMemo(() => orderedFootnotes(tokens), [tokens]);
  const key = notes.map(({ label }) => label).join(' ');
  const context = useMemo(() => ({ prefix, labels: key === '' ? [] : key.split(' ') }), [prefix, key]);
  return (
    <NotesContext value={context}>
      {children}
      {notes.length > 0 ? (
        <section className={classes.footnotes} aria-label={t('markdown.footnotes')}>
          <ol>
            {notes.map((note) => (
              <li key={note.label} id={noteId(prefix, note.label)} tabIndex={-1}>
                {content(note)}
                <a
                  href={`#${markId(prefix, note.label)}`}
                  aria-label={t('markdown.backToText')}
                  onClick={(event) => goTo(event, markId(prefix, note.label))}
                >
                  ↩
                </a>
              </li>
            ))}
          </ol>
        </section>
      ) : null}
    </NotesContext>
  );
}

/** The number of a note; a reference to one that the message does not define is shown as it was written. */
export function FootnoteMark({ label, source }: { label: string; source: string }) {
  const t = useText();
  const { prefix, labels } = useContext(NotesContext);
  const number = labels.indexOf(label) + 1;
  if (number === 0) return source;
  const target = noteId(prefix, label);
  return (
    <sup>
      <a
        id={markId(prefix, label)}
        href={`#${target}`}
        aria-label={t('markdown.footnote', { number })}
        onClick={(event) => goTo(event, target)}
      >
        {number}
      </a>
    </sup>
  );
}

function noteId(prefix: string, label: string): string {
  return `${prefix}note-${label}`;
}

function markId(prefix: string, label: string): string {
  return `${prefix}mark-${label}`;
}

/** The address of the page stays: it names the conversation. */
function goTo(event: MouseEvent, id: string): void {
  event.preventDefault();
  const element = document.getElementById(id);
  element?.scrollIntoView({ block: 'center' });
  element?.focus();
}
