import '../../layout/dialogs/dialogs.css';
import type { McpServer, McpTool, ToolPolicy } from '@homeport/contracts/mcp/mcp';
import { acceptableTexts } from '@homeport/contracts/mcp/text-changes';
import { newlyAsking } from '@homeport/contracts/mcp/tool-hints';
import { Button, Modal } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { ShieldCheck } from 'lucide-react';
import { useCallback, useEffect, useId, useState } from 'react';
import { call } from '../../api/api.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import { Loading } from '../../catalogue/catalogue-view.tsx';
import formClasses from '../../forms/form.module.css';
import { FormFailure, Notice } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import { useReturnFocus } from '../../layout/dialogs/use-return-focus.ts';
import { showToast } from '../../layout/toasts.tsx';
import { type McpApi, type McpTest, mcpServersQuery, serverState } from '../mcp-api.ts';
import { adminOffersQuery, type CountedMcpOffer, offeredQuery } from '../offers/offers-api.ts';
import { ConnectionFailure } from '../server-problem.tsx';
import { ShownText } from '../shown-text.tsx';
import { ToolChange, ToolDefinition } from './tool-definition.tsx';
import classes from './tool-review.module.css';

type Props = {
  server: McpServer;
  api: McpApi;
  userId: string | undefined;
  /** Reviews the tools of this offer for everyone, with the administrator's own server. */
  offer?: CountedMcpOffer;
  onClose: () => void;
};

/**
 * Lists a server's tools again, shows every definition, or every change since trust was given, in full, and only then
 * offers to trust exactly those: the request contains the fingerprint of what was shown.
 */
export function ToolReview({ server, api, userId, offer, onClose }: Props) {
  const t = useText();
  useReturnFocus();
  const queries = useQueryClient();
  const { id, name } = server;
  const [tested, setTested] = useState<McpTest>();
  const [failure, setFailure] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const [hasMoved, setMoved] = useState(false);

  const look = useCallback(
    async (signal?: AbortSignal) => {
      setTested(undefined);
      setFailure(undefined);
      try {
        setTested(await api.test(id, signal));
      } catch (error) {
        if (!signal?.aborted) setFailure(error);
      }
      void queries.invalidateQueries({ queryKey: mcpServersQuery(userId).queryKey });
    },
    [api, id, queries, userId],
  );
  useEffect(() => {
    const abort = new AbortController();
    void look(abort.signal);
    return () => abort.abort();
  }, [look]);

  const refresh = () =>
    Promise.all(
      [mcpServersQuery(userId).queryKey, offeredQuery.queryKey, adminOffersQuery.queryKey].map((queryKey) =>
        queries.invalidateQueries({ queryKey }),
      ),
    );
  const trust = async (fingerprint: string, starting: Record<string, ToolPolicy>, volatileTexts: string[]) => {
    setBusy(true);
    setFailure(undefined);
    try {
      if (offer) {
        await call('POST /api/admin/mcp/offers/trust', { body: { id: offer.id, fingerprint, volatileTexts } });
      } else {
        // The policies come first, so that no tool is ever trusted without them.
        if (Object.keys(starting).length > 0)
          await api.change({ id, toolPolicies: { ...starting, ...tested?.server.toolPolicies } });
        await api.trust({ id, fingerprint, volatileTexts });
      }
      await refresh();
      showToast(offer ? t('offers.trustedToast', { name: offer.name }) : t('mcp.trustedToast', { name }));
      onClose();
    } catch (error) {
      if (error instanceof ApiFailure && error.code === 'mcp_tools_changed') {
        setMoved(true);
        void look();
      } else setFailure(error);
    } finally {
      setBusy(false);
    }
  };

  const withdraw = async () => {
    setBusy(true);
    try {
      await call('DELETE /api/mcp/trust', { query: { id } });
      await refresh();
      showToast(t('mcp.trustWithdrawn', { name }));
      onClose();
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };

  return (
    <Modal opened onClose={onClose} title={t('mcp.reviewTitle', { name })} size="52rem">
      <div className={classes.review}>
        {hasMoved ? (
          <Notice kind="warning" title={t('mcp.movedTitle')}>
            {t('mcp.movedText')}
          </Notice>
        ) : null}
        {tested ? <Definitions tested={tested} /> : null}
        {!tested && failure === undefined ? <Loading /> : null}
        {failure === undefined ? null : tested ? (
          <FormFailure failure={failure} />
        ) : (
          <ConnectionFailure
            failure={failure}
            action={
              <Button size="compact-sm" variant="default" onClick={() => void look()}>
                {t('app.retry')}
              </Button>
            }
          />
        )}
        {tested ? (
          <TrustRow
            tested={tested}
            offer={offer}
            isBusy={isBusy}
            onTrust={trust}
            onWithdraw={userId === undefined && !offer ? withdraw : undefined}
            onClose={onClose}
          />
        ) : null}
      </div>
    </Modal>
  );
}

function TrustRow({
  tested,
  offer,
  isBusy,
  onTrust,
  onWithdraw,
  onClose,
}: {
  tested: McpTest;
  offer: CountedMcpOffer | undefined;
  isBusy: boolean;
  onTrust: (fingerprint: string, starting: Record<string, ToolPolicy>, volatileTexts: string[]) => void;
  onWithdraw: (() => void) | undefined;
  onClose: () => void;
}) {
  const t = useText();
  const { server } = tested;
  const { fingerprint, tools } = server;
  const namesId = useId();
  const [asks, setAsks] = useState(true);
  const [isIgnoring, setIgnoring] = useState(false);
  const texts = acceptableTexts(tested.drift, server.volatileTexts);
  const textsId = useId();
  const names = newlyAsking(tools, trustedBefore(tested))
    .map((tool) => tool.name)
    .filter((name) => !Object.hasOwn(server.toolPolicies, name));
  // A single name is part of the sentence, so that the row stays low over the definitions.
  const only = names.length === 1 ? names[0] : undefined;
  const starting = (): Record<string, ToolPolicy> =>
    Object.fromEntries(names.map((name) => [name, asks ? 'ask' : 'allow']));
  const isTrusted = offer ? offer.trustedFingerprint === fingerprint : serverState(server) === 'trusted';
  return (
    <div className={classes.end}>
      {isTrusted || fingerprint === null ? null : (
        <p className={classes.fingerprint}>
          {t('mcp.fingerprint')} <code>{fingerprint}</code>
        </p>
      )}
      {offer && !isTrusted ? <p className={classes.lead}>{t('offers.trustAllHint')}</p> : null}
      {offer || isTrusted || fingerprint === null || names.length === 0 ? null : (
        <div>
          <label className={classes.askFirst}>
            <input
              type="checkbox"
              checked={asks}
              onChange={(event) => setAsks(event.currentTarget.checked)}
              aria-describedby={only === undefined ? namesId : undefined}
            />
            <span>
              {t('mcp.askFirst', { count: names.length })} {only === undefined ? null : <Name name={only} />}
            </span>
          </label>
          {only === undefined ? (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
            <p id={namesId} tabIndex={0} className={classes.asked}>
              {names.map((name) => (
                <Name key={name} name={name} />
              ))}
            </p>
          ) : null}
        </div>
      )}
      {isTrusted || texts.length === 0 ? null : (
        <div>
          <label className={classes.askFirst}>
            <input
              type="checkbox"
              checked={isIgnoring}
              onChange={(event) => setIgnoring(event.currentTarget.checked)}
              aria-describedby={textsId}
            />
            {t('mcp.ignoreTexts', { count: texts.length })}
          </label>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
          <p id={textsId} tabIndex={0} className={classes.asked}>
            {texts.map((path) => (
              <code key={path}>
                <ShownText text={path.slice(1)} />
              </code>
            ))}
          </p>
        </div>
      )}
      <div className={formClasses.actions}>
        {onWithdraw && server.trustState === 'trusted' ? (
          <Button variant="subtle" color="gray" aria-disabled={isBusy} onClick={() => !isBusy && onWithdraw()}>
            {t('mcp.withdrawTrust')}
          </Button>
        ) : null}
        <Button variant="default" onClick={onClose}>
          {t(isTrusted ? 'app.close' : 'mcp.notNow')}
        </Button>
        {isTrusted || fingerprint === null ? null : (
          <Button
            leftSection={<ShieldCheck size={16} aria-hidden />}
            aria-disabled={isBusy}
            onClick={() => !isBusy && onTrust(fingerprint, starting(), isIgnoring ? texts : [])}
          >
            {t(isBusy ? 'mcp.trusting' : offer ? 'offers.trustAll' : 'mcp.trust', { count: tools.length })}
          </Button>
        )}
      </div>
    </div>
  );
}

function Name({ name }: { name: string }) {
  return (
    <code>
      <ShownText text={name} />
    </code>
  );
}

/** The definitions that are trusted now, of the tools that still exist. */
function trustedBefore({ server, drift }: McpTest): readonly McpTool[] {
  if (server.trustedFingerprint === null) return [];
  const added = new Set(drift.added.map(({ name }) => name));
  const before = new Map(drift.modified.map(({ name, before }) => [name, before]));
  return server.tools.filter(({ name }) => !added.has(name)).map((tool) => before.get(tool.name) ?? tool);
}

function Definitions({ tested: { server, drift } }: { tested: McpTest }) {
  const t = useText();
  const wasTrusted = server.trustedFingerprint !== null;
  if (server.tools.length === 0 && !drift.changed) return <Notice kind="info">{t('mcp.noTools')}</Notice>;
  if (wasTrusted && !drift.changed) {
    return (
      <>
        <Notice kind="success">{t('mcp.unchanged')}</Notice>
        <Whole server={server} />
      </>
    );
  }
  if (!wasTrusted) {
    return (
      <>
        <p className={classes.lead}>{t('mcp.readLead', { count: server.tools.length })}</p>
        <Whole server={server} />
      </>
    );
  }
  const touched = new Set([...drift.added, ...drift.modified].map((tool) => tool.name));
  const unchanged = server.tools.filter((tool) => !touched.has(tool.name));
  return (
    <>
      <p className={classes.lead}>
        {t('mcp.driftLead', {
          added: drift.added.length,
          removed: drift.removed.length,
          modified: drift.modified.length,
        })}
      </p>
      {drift.modified.map(({ name, before, after }) => (
        <ToolChange key={name} name={name} before={before} after={after} />
      ))}
      {drift.added.map((tool) => (
        <ToolDefinition key={tool.name} tool={tool} mark="added" />
      ))}
      {drift.removed.map((tool) => (
        <ToolDefinition key={tool.name} tool={tool} mark="removed" />
      ))}
      {unchanged.length === 0 ? null : (
        <details className={classes.unchanged}>
          <summary>{t('mcp.unchangedTools', { count: unchanged.length })}</summary>
          {unchanged.map((tool) => (
            <ToolDefinition key={tool.name} tool={tool} />
          ))}
        </details>
      )}
    </>
  );
}

function Whole({ server }: { server: McpServer }) {
  return server.tools.map((tool) => <ToolDefinition key={tool.name} tool={tool} />);
}
