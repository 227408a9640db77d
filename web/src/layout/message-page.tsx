import { Button } from '@mantine/core';
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ApiFailure } from '../api/api-failure.ts';
import { ErrorHelp } from '../forms/notice.tsx';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';
import { useTitle } from './branding.ts';
import classes from './message-page.module.css';

/** A page or pane with one message and one action. */
export function MessagePage({
  title,
  children,
  action,
  isPage = true,
}: {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  isPage?: boolean;
}) {
  useTitle(title);
  const Box = isPage ? 'main' : 'div';
  return (
    <Box className={classes.page} id={isPage ? 'content' : undefined}>
      <div className={classes.box}>
        <h1 className={classes.title}>{title}</h1>
        {children ? <div className={classes.text}>{children}</div> : null}
        {action ? <div className={classes.action}>{action}</div> : null}
      </div>
    </Box>
  );
}

export function NotFoundPage() {
  const t = useText();
  return (
    <MessagePage title={t('app.notFoundTitle')} action={<HomeButton />}>
      {t('app.notFoundText')}
    </MessagePage>
  );
}

/** Instead of a blank page: drafts and receipts are in storage, so nothing typed is lost. */
export function CrashPage({ error }: ErrorComponentProps) {
  const t = useText();
  const isApi = error instanceof ApiFailure;
  return (
    <MessagePage
      title={t(isApi ? 'app.unavailableTitle' : 'app.crashTitle')}
      action={<Button onClick={() => location.reload()}>{t('app.reload')}</Button>}
    >
      <p>{isApi ? failureText(error, t) : t('app.crashText')}</p>
      {isApi && error.requestId ? <p>{t('failure.reference', { requestId: error.requestId })}</p> : null}
      <ErrorHelp failure={error} />
    </MessagePage>
  );
}

export function HomeButton() {
  const t = useText();
  return (
    <Button component={Link} to="/" variant="default">
      {t('app.home')}
    </Button>
  );
}
