import 'virtual:texts/import-export';
import { Button } from '@mantine/core';
import { useText } from '../i18n/i18n.ts';
import { Card, Section } from '../layout/section.tsx';
import { DeleteMeCard } from './delete-me-card.tsx';
import { ImportCard } from './import-card.tsx';

/** `/settings/import-export` */
export function ImportExportPage() {
  const t = useText();
  return (
    <Section title={t('settings.moving')} text={t('moving.text')}>
      <ImportCard />
      <Card
        title={t('moving.export')}
        text={t('moving.exportText')}
        action={
          <Button component="a" href="/api/me/export" download variant="default">
            {t('moving.exportAction')}
          </Button>
        }
      />
      <DeleteMeCard />
    </Section>
  );
}
