import { createContext, type ReactNode, use } from 'react';
import { useTitle } from './branding.ts';
import classes from './section.module.css';

const titleId = 'section-title';

/** Links between the sections about one thing, shown below each section's title. */
export const SectionTabsContext = createContext<ReactNode>(null);

/** One section of the settings: its heading, its purpose, and at most one main action. */
export function Section({
  title,
  text,
  action,
  children,
}: {
  title: string;
  text: string;
  action?: ReactNode;
  children: ReactNode;
}) {
  useTitle(title);
  const tabs = use(SectionTabsContext);
  return (
    <>
      <header className={classes.head}>
        <div className={classes.intro}>
          <h1 className={classes.title} id={titleId} tabIndex={-1}>
            {title}
          </h1>
          <p className={classes.text}>{text}</p>
        </div>
        {action}
      </header>
      {tabs}
      <div className={classes.body}>{children}</div>
    </>
  );
}

/** Moves the focus here when the focused element is gone. */
export function focusSectionTitle(): void {
  document.getElementById(titleId)?.focus();
}

/** A part of a section with its own heading. */
export function Card({
  title,
  text,
  action,
  children,
}: {
  title: ReactNode;
  text?: ReactNode;
  action?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <section className={classes.card}>
      <div className={classes.cardHead}>
        <div className={classes.intro}>
          <h2 className={classes.cardTitle}>{title}</h2>
          {text ? <p className={classes.cardText}>{text}</p> : null}
        </div>
        {action}
      </div>
      {children}
    </section>
  );
}

/** An empty list: what would be here, and the one thing to do. */
export function EmptyState({ title, text, action }: { title?: string; text: string; action?: ReactNode }) {
  return (
    <div className={classes.empty}>
      {title ? <h2 className={classes.emptyTitle}>{title}</h2> : null}
      <p className={classes.emptyText}>{text}</p>
      {action}
    </div>
  );
}
