import 'virtual:texts/catalogue';
import type { MessagePart } from '@homeport/contracts/chat/frames';
import { servedByIn } from '@homeport/contracts/chat/served-by';
import { Info } from 'lucide-react';
import { useThreadActions } from '../../conversation/thread-actions.ts';
import { useText } from '../../i18n/i18n.ts';
import classes from './part-view.module.css';

/** Line that names the stand-in that answered, and why. */
export function ServedByLine({ part }: { part: MessagePart }) {
  const t = useText();
  const { modelName } = useThreadActions();
  const servedBy = servedByIn([part]);
  if (servedBy === undefined) return null;
  const model = modelName(servedBy.modelId) ?? t('standIns.unknown');
  return (
    <p className={classes.notice}>
      <Info size={15} aria-hidden />
      <span>{t(`standIns.because.${servedBy.reason}`, { model })}</span>
    </p>
  );
}
