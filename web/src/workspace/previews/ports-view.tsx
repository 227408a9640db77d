import 'virtual:texts/previews';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { AppWindow } from 'lucide-react';
import { FormFailure, Notice } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import placeClasses from '../workspace.module.css';
import { AppView } from './app-view.tsx';
import classes from './previews.module.css';
import { type AppPlace, portsQuery } from './previews-api.ts';

type Props = { app: AppPlace | undefined; onApp: (app: AppPlace | undefined) => void };

/** The apps that run in the workspace, or the one that was opened. */
export function PortsView({ app, onApp }: Props) {
  const t = useText();
  const { data, error } = useQuery({ ...portsQuery, enabled: app === undefined });
  if (app !== undefined) return <AppView key={`${app.port} ${app.at}`} app={app} onBack={() => onApp(undefined)} />;
  if (data === undefined) {
    return error ? <FormFailure failure={error} /> : <div className={placeClasses.place} aria-busy="true" />;
  }
  return (
    <>
      {data.previews ? null : (
        <Notice kind="warning" title={t('ports.noAddress')}>
          {t('ports.noAddressHint')}
        </Notice>
      )}
      {data.ports.length === 0 ? (
        <div className={placeClasses.place}>
          <AppWindow size={28} aria-hidden />
          <h2 className={placeClasses.placeTitle}>{t('ports.none')}</h2>
          <p>{t('ports.noneHint')}</p>
        </div>
      ) : (
        <ul className={classes.list} aria-label={t('ports.list')}>
          {data.ports.map(({ port, command }) => (
            <li key={port} className={classes.row}>
              <span className={classes.name}>{t('ports.port', { port: String(port) })}</span>
              <span className={classes.command} title={command ?? undefined} dir="ltr">
                {command}
              </span>
              {data.previews ? (
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={t('ports.openPort', { port: String(port) })}
                  onClick={() => onApp({ port, at: '/' })}
                >
                  {t('ports.open')}
                </Button>
              ) : null}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
