import '../forms/switch.css';
import type { McpServer } from '@homeport/contracts/mcp/mcp';
import { ActionIcon, Button, Switch } from '@mantine/core';
import { LogIn, PencilLine, ShieldAlert, ShieldCheck, ShieldQuestion, Trash2 } from 'lucide-react';
import { useState } from 'react';
import cardClasses from '../catalogue/catalogue-card.module.css';
import { FailureDetail, Notice } from '../forms/notice.tsx';
import { type Failure, failureDetail, wordFailure } from '../i18n/error-texts.ts';
import { dateLocale } from '../i18n/format-locale.ts';
import { type Translate, useText } from '../i18n/i18n.ts';
import { ConfirmDialog } from '../layout/dialogs/confirm-dialog.tsx';
import { Card } from '../layout/section.tsx';
import { Tip } from '../layout/tip.tsx';
import { ConnectButton } from './connect-button.tsx';
import classes from './mcp.module.css';
import { serverState } from './mcp-api.ts';
import { ToolPolicies } from './tools/tool-policies.tsx';
import type { ServerChanges } from './use-server-changes.ts';

type Props = {
  server: McpServer;
  canEdit: boolean;
  /** True for the person's own server; only its owner can sign in to it. */
  isOwn: boolean;
  /** Sentence about the administrator's trust that came with the offer. */
  trustedBy: string | undefined;
  changes: ServerChanges;
  onEdit: () => void;
  onReview: () => void;
};

/** One MCP server: its state, its tools, and its actions. */
export function ServerCard({ server, canEdit, isOwn, trustedBy, changes, onEdit, onReview }: Props) {
  const t = useText();
  const { name } = server;
  const [isDeleting, setDeleting] = useState(false);
  const state = serverState(server);
  const needsSignIn = server.connection === 'needed';
  const wantsReview = state !== 'trusted' && !needsSignIn;
  return (
    <Card
      title={
        <span className={classes.title}>
          <bdi>{name}</bdi>
          <StateChip state={needsSignIn ? 'signIn' : state} />
        </span>
      }
      text={
        <span className={cardClasses.address}>
          {server.command === null ? server.url : [server.command, ...(server.args ?? [])].join(' ')}
        </span>
      }
      action={
        canEdit ? (
          <Switch
            checked={server.enabled}
            onChange={(event) => void changes.setEnabled(server, event.currentTarget.checked)}
            aria-label={t('mcp.enabled', { name })}
            size="md"
          />
        ) : undefined
      }
    >
      {server.credentialsError ? (
        <div className={classes.note}>
          <Notice kind="warning" title={t('mcp.unreadableTitle')}>
            {t('mcp.unreadableText')}
          </Notice>
        </div>
      ) : null}
      {needsSignIn ? (
        <div className={classes.note}>
          <Notice
            kind="info"
            title={t('mcp.connectTitle')}
            action={isOwn ? <ConnectButton serverId={server.id} name={name} /> : undefined}
          >
            {t(isOwn ? 'mcp.connectText' : 'mcp.connectTheirs')}
          </Notice>
        </div>
      ) : null}
      {server.lastError && !needsSignIn ? (
        <div className={classes.note}>
          <Notice kind="warning" title={t('mcp.lastErrorTitle')}>
            {wordFailure(lastFailure(server.lastError))}
            <FailureDetail text={failureDetail(lastFailure(server.lastError))} />
          </Notice>
        </div>
      ) : null}
      {wantsReview && !server.lastError ? (
        <div className={classes.note}>
          <Notice kind={state === 'changed' ? 'warning' : 'info'}>
            {t(`mcp.stateText.${state === 'changed' && server.trustedWithOffer ? 'changedForAll' : state}`)}
          </Notice>
        </div>
      ) : null}
      <div className={cardClasses.foot}>
        <ul className={cardClasses.facts}>
          {(trustedBy ? [trustedBy, ...facts(server, t)] : facts(server, t)).map((fact) => (
            <li key={fact}>{fact}</li>
          ))}
        </ul>
        {isOwn && server.connection === 'connected' && !canEdit ? <SignOut server={server} changes={changes} /> : null}
        {canEdit ? (
          <div className={cardClasses.buttons}>
            {isOwn && server.connection === 'connected' ? <SignOut server={server} changes={changes} /> : null}
            <Button size="compact-sm" variant={wantsReview ? 'filled' : 'default'} onClick={onReview}>
              {t(`mcp.review.${state}`)}
              <span className="visually-hidden"> {name}</span>
            </Button>
            <IconButton label={t('mcp.editNamed', { name })} onClick={onEdit}>
              <PencilLine size={16} />
            </IconButton>
            <IconButton label={t('mcp.deleteNamed', { name })} onClick={() => setDeleting(true)}>
              <Trash2 size={16} />
            </IconButton>
          </div>
        ) : null}
      </div>
      {server.tools.length > 0 ? <ToolPolicies server={server} canEdit={canEdit} changes={changes} /> : null}
      {isDeleting ? (
        <ConfirmDialog
          title={t('mcp.deleteTitle', { name })}
          text={t(server.offerId === null ? 'mcp.deleteText' : 'mcp.deleteOffered')}
          confirmLabel={t('mcp.deleteConfirm')}
          onConfirm={() => {
            setDeleting(false);
            void changes.remove(server);
          }}
          onClose={() => setDeleting(false)}
        />
      ) : null}
    </Card>
  );
}

function SignOut({ server, changes }: Pick<Props, 'server' | 'changes'>) {
  const t = useText();
  return (
    <Button size="compact-sm" variant="default" onClick={() => void changes.signOut(server)}>
      {t('mcp.signOut')}
      <span className="visually-hidden"> {server.name}</span>
    </Button>
  );
}

const icons = {
  signIn: LogIn,
  untested: ShieldQuestion,
  untrusted: ShieldQuestion,
  trusted: ShieldCheck,
  changed: ShieldAlert,
} as const;

function StateChip({ state }: { state: keyof typeof icons }) {
  const t = useText();
  const Icon = icons[state];
  return (
    <span className={classes.chip} data-state={state}>
      <Icon size={13} aria-hidden />
      {t(`mcp.state.${state}`)}
    </span>
  );
}

function IconButton({ label, onClick, children }: { label: string; onClick: () => void; children: React.ReactNode }) {
  return (
    <Tip label={label} align="end">
      <ActionIcon variant="subtle" color="gray" size={30} aria-label={label} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tip>
  );
}

/** The stored failure of listing tools: the server's text is English. */
function lastFailure(message: string): Failure {
  return { code: 'mcp_unreachable', message };
}

function facts(server: McpServer, t: Translate): string[] {
  const tested = server.lastTestedAt;
  const at = tested === null ? undefined : new Date(tested);
  const format = new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'medium', timeStyle: 'short' });
  return [
    t('mcp.tools', { count: server.tools.length }),
    server.transport === 'stdio' ? t('mcp.inWorkspace') : server.transport === 'sse' ? 'SSE' : 'HTTP',
    ...(server.transport === 'stdio' && server.version ? [t('mcp.version', { version: server.version })] : []),
    ...(server.offerId === null ? [] : [t('mcp.offeredFact')]),
    ...(server.hasHeaders ? [t('mcp.withHeaders')] : []),
    ...(server.connection === 'connected' ? [t('mcp.signedIn')] : []),
    ...(at ? [t('mcp.testedAt', { at: format.format(at) })] : []),
    ...(server.enabled ? [] : [t('mcp.off')]),
  ];
}
