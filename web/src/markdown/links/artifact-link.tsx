import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import classes from '../markdown.module.css';

/** A link to an artifact opens it in its conversation's panel; elsewhere only its name is shown. */
export function ArtifactLink({ id, children }: { id: string; children: ReactNode }) {
  const { chatId } = useParams({ strict: false });
  if (chatId === undefined) return <span className={classes.artifact}>{children}</span>;
  return (
    <Link to="/c/$chatId" params={{ chatId }} search={{ file: id }} className={classes.artifact}>
      {children}
    </Link>
  );
}

/** A cited page opens in the conversation's panel; elsewhere it stays text. */
export function CitationLink({ name, at, text }: { name: string; at: string; text: string }) {
  const { chatId } = useParams({ strict: false });
  if (chatId === undefined) return text;
  return (
    <Link to="/c/$chatId" params={{ chatId }} search={{ cite: name, at }} className={classes.citation}>
      {text}
    </Link>
  );
}
