import { useText } from '../i18n/i18n.ts';
import { useIsSlow } from '../layout/use-is-slow.ts';
import classes from './files.module.css';

/** Placeholders for files that are loading, if that takes noticeably long. */
export function SkeletonRows() {
  const t = useText();
  const isSlow = useIsSlow();
  return (
    <div aria-busy="true">
      {isSlow ? (
        <>
          <span className="visually-hidden" role="status">
            {t('app.loading')}
          </span>
          <div className={classes.bone} />
          <div className={classes.bone} />
        </>
      ) : null}
    </div>
  );
}
