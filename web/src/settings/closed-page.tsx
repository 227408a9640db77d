import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useText } from '../i18n/i18n.ts';
import { useAdministrators } from '../layout/records/use-administrators.ts';
import { EmptyState, Section } from '../layout/section.tsx';

/** A page of the settings that only others may use: it names whom to ask, and leads back. */
export function ClosedPage() {
  const t = useText();
  const administrators = useAdministrators();
  return (
    <Section title={t('ask.closedTitle')} text={t('ask.closedText', administrators)}>
      <EmptyState
        text={t('ask.closedHint')}
        action={
          <Button component={Link} to="/settings/account" variant="default">
            {t('ask.closedAction')}
          </Button>
        }
      />
    </Section>
  );
}
