import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useText } from '../i18n/i18n.ts';
import 'virtual:texts/diagram';
import { whenNear } from '../layout/when-near.ts';
import classes from './diagram.module.css';
import { type Drawing, drawDiagram } from './draw-diagram.ts';

type Props = { code: string; onDrawn: () => void };

/** The picture of a diagram's code, drawn near the screen; redrawn when the color scheme changes. */
export function DiagramView({ code, onDrawn }: Props) {
  const t = useText();
  const scheme = useComputedColorScheme('light');
  const [address, setAddress] = useState<string>();
  const [failure, setFailure] = useState<Exclude<Drawing, { type: 'drawn' }>>();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!box.current) return;
    const abort = new AbortController();
    const draw = async () => {
      const drawing = await drawDiagram(code, scheme, abort.signal);
      if (abort.signal.aborted) return;
      if (drawing.type !== 'drawn') {
        setFailure(drawing);
        return;
      }
      setAddress(URL.createObjectURL(drawing.picture));
      onDrawn();
    };
    const stop = whenNear(box.current.closest('figure') ?? box.current, () => void draw());
    return () => {
      stop();
      abort.abort();
    };
  }, [code, scheme, onDrawn]);
  useEffect(() => () => URL.revokeObjectURL(address ?? ''), [address]);

  if (address !== undefined) {
    const title = titleOf(code);
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      <div className={classes.picture} ref={box} tabIndex={0} data-preview>
        <img src={address} alt={title ? t('diagram.titled', { title }) : t('diagram.name')} />
      </div>
    );
  }
  return (
    <div
      className={classes.state}
      ref={box}
      role="status"
      data-preview
      data-failed={failure !== undefined || undefined}
    >
      {t(failure ? `diagram.${failure.type}` : 'diagram.drawing')}
      {failure?.type === 'broken' ? <code className={classes.fault}>{failure.fault}</code> : null}
    </div>
  );
}

/** The code's own title, for people who do not see the picture. */
function titleOf(code: string): string | undefined {
  return /^[ \t]{0,40}(?:accTitle[ \t]{0,4}:|title\b:?)[ \t]{0,40}(\S.{0,200})$/m.exec(code)?.[1]?.trim();
}
