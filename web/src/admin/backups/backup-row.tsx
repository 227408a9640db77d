import type { Backup } from '@homeport/contracts/operations';
import { useText } from '../../i18n/i18n.ts';
import { formatTime } from '../format.ts';
import { sizeText } from '../sizes.ts';
import classes from './backups.module.css';

/** One backup: when, how it ended, where it is. */
export function BackupRow({ backup }: { backup: Backup }) {
  const t = useText();
  const { state, cause, place, progress, error, size, startedAt } = backup;
  const { rows = 0, files = 0 } = progress;
  return (
    <li className={classes.row}>
      <div className={classes.head}>
        <time dateTime={startedAt}>{formatTime(startedAt)}</time>
        <span className={classes.state} data-state={state}>
          {t(`backups.state.${state}`)}
        </span>
        <span className={classes.soft}>{t(`backups.cause.${cause}`)}</span>
        {size === null ? null : <span className={classes.soft}>{sizeText(size)}</span>}
        {rows > 0 ? <span className={classes.soft}>{t('backups.progress', { rows, files })}</span> : null}
      </div>
      <code className={classes.place}>{place}</code>
      {error === null ? null : <p className={classes.error}>{error}</p>}
      {state === 'lost' ? <p className={classes.error}>{t('backups.lost')}</p> : null}
    </li>
  );
}
