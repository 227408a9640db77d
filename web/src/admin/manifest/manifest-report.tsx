import type { ProvisionReport } from '@homeport/contracts/provision/provision';
import { Button } from '@mantine/core';
import { Notice } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import { Card } from '../../layout/section.tsx';
import classes from './manifest.module.css';

/** Changes that a manifest would make, or has made. */
export function ManifestReport({
  report,
  isBusy,
  onApply,
}: {
  report: ProvisionReport;
  isBusy: boolean;
  onApply: () => void;
}) {
  const t = useText();
  const { applied, warnings, changes, changesLeftOut, dryRun } = report;
  const isUnchanged = changes.length === 0;
  return (
    <Card
      title={t(dryRun ? 'manifest.wouldTitle' : 'manifest.didTitle')}
      text={t(
        isUnchanged
          ? dryRun
            ? 'manifest.wouldNothing'
            : 'manifest.didNothing'
          : dryRun
            ? 'manifest.wouldText'
            : 'manifest.didText',
      )}
      action={
        dryRun && !isUnchanged ? (
          <Button aria-disabled={isBusy} onClick={() => !isBusy && onApply()}>
            {t(isBusy ? 'manifest.applying' : 'manifest.applyAction')}
          </Button>
        ) : undefined
      }
    >
      <div className={classes.report}>
        <div className={classes.scroll}>
          <table className={classes.counts}>
            <caption className="visually-hidden">{t('manifest.counts')}</caption>
            <thead>
              <tr>
                <th scope="col">{t('manifest.kind')}</th>
                <th scope="col">{t('manifest.created')}</th>
                <th scope="col">{t('manifest.updated')}</th>
                <th scope="col">{t('manifest.unchanged')}</th>
              </tr>
            </thead>
            <tbody>
              {(['users', 'providers', 'models', 'assistants', 'prompts'] as const).map((kind) => {
                const counts = applied[kind];
                return counts === undefined ? null : (
                  <Row
                    key={kind}
                    name={t(`manifest.kind.${kind}`)}
                    counts={[counts.created, counts.updated, counts.unchanged]}
                  />
                );
              })}
              <Row
                name={t('manifest.kind.conversations')}
                counts={[applied.conversations.created, null, applied.conversations.skipped]}
              />
            </tbody>
          </table>
        </div>
        {warnings.length > 0 ? (
          <Notice kind="warning" title={t('manifest.warnings', { count: warnings.length })}>
            <ul className={classes.warnings}>
              {warnings.map((warning) => (
                <li key={warning}>{warning}</li>
              ))}
            </ul>
          </Notice>
        ) : null}
        {isUnchanged ? null : (
          <table className={classes.changes}>
            <caption className="visually-hidden">{t('manifest.changes')}</caption>
            <thead>
              <tr>
                <th scope="col">{t('manifest.change')}</th>
                <th scope="col">{t('manifest.what')}</th>
              </tr>
            </thead>
            <tbody>
              {changes.map(({ path, action, summary }) => (
                <tr key={`${path} ${summary}`}>
                  <td>
                    <span className={classes.action} data-action={action}>
                      {t(`manifest.action.${action}`)}
                    </span>
                  </td>
                  <td>
                    {summary}
                    <code className={classes.path}>{path}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        {changesLeftOut > 0 ? (
          <p className={classes.left}>{t('manifest.moreChanges', { count: changesLeftOut })}</p>
        ) : null}
      </div>
    </Card>
  );
}

function Row({ name, counts }: { name: string; counts: readonly [number, number | null, number] }) {
  const [created, updated, unchanged] = counts;
  return (
    <tr>
      <th scope="row">{name}</th>
      <Count count={created} />
      <Count count={updated} />
      <Count count={unchanged} />
    </tr>
  );
}

function Count({ count }: { count: number | null }) {
  return <td data-zero={count === 0 || undefined}>{count ?? '–'}</td>;
}
