import '../dialogs/dialogs.css';
import { ActionIcon, Drawer } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { X } from 'lucide-react';
import { type CSSProperties, type ReactNode, useEffect, useRef, useState } from 'react';
import { PanelResizer } from './panel-resizer.tsx';
import { panelWidths, readPanelWidth, writePanelWidth } from './panel-width.ts';
import classes from './side-panel.module.css';

type Props = {
  /** Its name. */
  label: string;
  heading?: string;
  /** Key of the content; a change moves the focus to the heading. */
  subject?: string;
  closeLabel: string;
  isWide?: boolean;
  /** Always as a drawer. */
  isOver?: boolean;
  /** Buttons before and after the heading. */
  before?: ReactNode;
  after?: ReactNode;
  bodyClass?: string;
  onClose: () => void;
  children: ReactNode;
};

/** Panel beside a conversation or project: a column on wide screens, a drawer on narrow ones. */
export function SidePanel(props: Props) {
  const { label, isWide, isOver, onClose } = props;
  const isNarrow = useIsPanelOver();
  if (!isNarrow && !isOver) return <Column {...props} />;
  return (
    <Drawer.Root opened onClose={onClose} position="right" size={`min(${isWide ? 40 : 32}rem, 100vw)`} padding={0}>
      <Drawer.Overlay />
      <Drawer.Content aria-label={label}>
        <Drawer.Body className={classes.drawer}>
          <Content {...props} />
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}

function Column(props: Props) {
  const kind = props.isWide ? 'wide' : 'usual';
  const [drawn, setDrawn] = useState(() => readPanelWidth(kind));
  const style = drawn === undefined ? undefined : ({ '--panel-width': `${drawn}rem` } as CSSProperties);
  return (
    <aside className={classes.panel} data-wide={props.isWide} style={style} aria-label={props.label}>
      <PanelResizer
        width={drawn ?? panelWidths[kind]}
        onChange={(width, isDone) => {
          setDrawn(width);
          if (isDone) writePanelWidth(kind, width);
        }}
      />
      <Content {...props} />
    </aside>
  );
}

const narrow = '(max-width: 68rem)';

/** Whether panels cover what they belong to. */
export function useIsPanelOver(): boolean {
  return useMediaQuery(narrow, window.matchMedia(narrow).matches, { getInitialValueInEffect: false });
}

function Content({ label, heading = label, subject, closeLabel, before, after, bodyClass, onClose, children }: Props) {
  const title = useRef<HTMLHeadingElement>(null);
  // The clicked element is possibly gone from the panel.
  useEffect(() => {
    if (subject !== undefined || document.activeElement === document.body)
      title.current?.focus({ preventScroll: true });
  }, [subject]);
  return (
    <>
      <header className={classes.head}>
        {before}
        <h2 className={classes.title} ref={title} tabIndex={-1}>
          {heading}
        </h2>
        {after}
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={closeLabel}
          title={closeLabel}
          onClick={onClose}
        >
          <X size={18} />
        </ActionIcon>
      </header>
      <div className={bodyClass ?? classes.body}>{children}</div>
    </>
  );
}
