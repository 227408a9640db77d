import type { McpServer, McpTool, ToolPolicy } from '@homeport/contracts/mcp/mcp';
import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { SmallSelect } from '../../forms/small-select.tsx';
import { useText } from '../../i18n/i18n.ts';
import { ShownText } from '../shown-text.tsx';
import type { ServerChanges } from '../use-server-changes.ts';
import classes from './tool-policies.module.css';

const policies = ['allow', 'ask', 'deny'] as const;

/** Characters of a description shown in the list; the review shows all of it. */
const shownDescription = 300;

/** The tools of a server and, for each, whether it runs, asks first or never runs. */
export function ToolPolicies({
  server,
  canEdit,
  changes,
}: {
  server: McpServer;
  canEdit: boolean;
  changes: ServerChanges;
}) {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  const names = server.tools.map((tool) => tool.name);
  const chosen = new Set(names.map((name) => policyOf(server, name)));
  const [common] = chosen.size === 1 ? chosen : [];
  return (
    <details className={classes.policies} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <ChevronRight size={15} aria-hidden />
        {t('mcp.toolList', { count: names.length })}
      </summary>
      {isOpen ? (
        <>
          {canEdit && names.length > 1 ? (
            <div className={classes.policyAll}>
              <span>{t('mcp.policyAll')}</span>
              <PolicySelect
                label={t('mcp.policyAll')}
                value={common}
                onChange={(policy) => void changes.setPolicies(server, names, policy)}
              />
            </div>
          ) : null}
          <ul className={classes.toolRows}>
            {server.tools.map((tool) => (
              <li key={tool.name} className={classes.toolRow}>
                <ToolSummary tool={tool} />
                {canEdit ? (
                  <PolicySelect
                    label={t('mcp.policyOf', { name: tool.name })}
                    value={policyOf(server, tool.name)}
                    onChange={(policy) => void changes.setPolicies(server, [tool.name], policy)}
                  />
                ) : (
                  <span className={classes.policyWord}>{t(`mcp.policy.${policyOf(server, tool.name)}`)}</span>
                )}
              </li>
            ))}
          </ul>
          <p className={classes.hint}>{t('mcp.policyHint')}</p>
        </>
      ) : null}
    </details>
  );
}

function ToolSummary({ tool }: { tool: McpTool }) {
  const description = tool.description ?? '';
  return (
    <div className={classes.toolAbout}>
      <code className={classes.toolCode}>
        <ShownText text={tool.name} />
      </code>
      {description === '' ? null : (
        <p className={classes.toolText}>
          <ShownText text={description.slice(0, shownDescription)} />
          {description.length > shownDescription ? ' …' : null}
        </p>
      )}
    </div>
  );
}

function PolicySelect({
  label,
  value,
  onChange,
}: {
  label: string;
  value: ToolPolicy | undefined;
  onChange: (policy: ToolPolicy) => void;
}) {
  const t = useText();
  const change = (given: string) => {
    const policy = policies.find((each) => each === given);
    if (policy) onChange(policy);
  };
  return (
    <SmallSelect
      label={label}
      value={value ?? ''}
      options={[
        ...(value === undefined ? [{ value: '', label: t('mcp.policyMixed') }] : []),
        ...policies.map((policy) => ({ value: policy, label: t(`mcp.policy.${policy}`) })),
      ]}
      onChange={change}
    />
  );
}

function policyOf(server: McpServer, name: string): ToolPolicy {
  return Object.hasOwn(server.toolPolicies, name) ? (server.toolPolicies[name] ?? 'allow') : 'allow';
}
