import { WifiOff } from 'lucide-react';
import { useText } from '../../i18n/i18n.ts';
import classes from '../signed-in-frame.module.css';
import { useIsOnline } from './online.ts';

/** Banner shown without a network; it assures that typed text is kept. */
export function OfflineBanner() {
  const t = useText();
  if (useIsOnline()) return null;
  return (
    <div role="status" className={classes.offline}>
      <WifiOff size={15} aria-hidden />
      <span>{t('app.offline')}</span>
    </div>
  );
}
