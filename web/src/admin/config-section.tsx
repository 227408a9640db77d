import type { AdminConfig } from '@homeport/contracts/admin';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { configQuery } from '../api/queries.ts';
import { Loading } from '../catalogue/catalogue-view.tsx';
import { FormFailure } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { Section } from '../layout/section.tsx';

/** A page about the installation's configuration, once it is loaded. */
export function ConfigSection(props: { title: string; text: string; children: (stored: AdminConfig) => ReactNode }) {
  const t = useText();
  const { data, error, refetch } = useQuery(configQuery);
  return (
    <Section title={props.title} text={props.text}>
      {data ? props.children(data) : null}
      {error && !data ? (
        <>
          <FormFailure failure={error} />
          <Button variant="default" onClick={() => void refetch()}>
            {t('app.retry')}
          </Button>
        </>
      ) : null}
      {data || error ? null : <Loading />}
    </Section>
  );
}
