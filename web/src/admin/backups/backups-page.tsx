import 'virtual:texts/backups';
import { Button } from '@mantine/core';
import { Loading } from '../../catalogue/catalogue-view.tsx';
import { FormFailure } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import { Card, EmptyState, Section } from '../../layout/section.tsx';
import { OperationCard } from '../../operation/operation-card.tsx';
import { BackupRow } from './backup-row.tsx';
import classes from './backups.module.css';
import { useBackup } from './use-backup.ts';

/** `/settings/admin/backups` */
export function BackupsPage() {
  const t = useText();
  const { data, error, make, isRunning } = useBackup();
  return (
    <Section
      title={t('settings.backups')}
      text={t('backups.text')}
      action={
        <Button onClick={() => make.mutate()} loading={isRunning} disabled={!data}>
          {t('backups.make')}
        </Button>
      }
    >
      <p role="status" className="visually-hidden">
        {isRunning ? t('backups.making') : ''}
      </p>
      {make.error ? <FormFailure failure={make.error} /> : null}
      {error && !data ? <FormFailure failure={error} /> : null}
      {data || error ? null : <Loading />}
      {data ? (
        <Card title={t('backups.list')} text={t('backups.listText')}>
          <ul className={classes.facts}>
            <li>{t('backups.place', { place: data.place })}</li>
            <li>{t(data.encrypted ? 'backups.encrypted' : 'backups.plain')}</li>
          </ul>
          {data.backups.length === 0 ? (
            <EmptyState title={t('backups.empty')} text={t('backups.emptyText')} />
          ) : (
            <ul className={classes.list}>
              {data.backups.map((backup) => (
                <BackupRow key={backup.id} backup={backup} />
              ))}
            </ul>
          )}
        </Card>
      ) : null}
      <OperationCard
        title="operation.backups"
        text="operation.backupsText"
        names={['backupSchedule', 'backupKeep', 'backupWorkspaces']}
      />
    </Section>
  );
}
