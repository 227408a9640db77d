import '../forms/switch.css';
import { Switch } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ChoiceChips } from '../forms/choice-chips.tsx';
import formClasses from '../forms/form.module.css';
import { useText } from '../i18n/i18n.ts';
import { useAccess } from '../layout/use-access.ts';
import { mcpServersQuery } from '../mcp/mcp-api.ts';
import classes from './assistants.module.css';

type Props = {
  value: string[] | null;
  onChange: (ids: string[] | null) => void;
  /** Servers of the assistant that the reader does not have. */
  missing: number;
};

/** Which MCP servers take part: all that the reader has, or these. */
export function ServersField({ value, onChange, missing }: Props) {
  const t = useText();
  const { data } = useQuery(mcpServersQuery());
  const { canEditTools } = useAccess();
  const servers = data?.servers ?? [];
  const toggle = (id: string, isOn: boolean) =>
    onChange(isOn ? [...(value ?? []), id] : (value ?? []).filter((each) => each !== id));
  if (servers.length === 0 && !canEditTools && value === null && missing === 0) return null;
  return (
    <div className={formClasses.form}>
      <ChoiceChips
        legend={t('assistant.servers')}
        options={[
          { value: 'all', label: t('assistant.serversAll') },
          { value: 'some', label: t('assistant.serversSome') },
        ]}
        value={value === null ? 'all' : 'some'}
        onChange={(choice) => onChange(choice === 'all' ? null : [])}
        hint={t(value === null ? 'assistant.serversAllHint' : 'assistant.serversSomeHint')}
      />
      {value === null ? null : (
        <div className={classes.servers}>
          {servers.map(({ id, name }) => (
            <Switch
              key={id}
              label={name}
              checked={value.includes(id)}
              onChange={(event) => toggle(id, event.currentTarget.checked)}
            />
          ))}
          {data && servers.length === 0 ? <p className={classes.hint}>{t('assistant.serversNone')}</p> : null}
          {missing > 0 ? <p className={classes.hint}>{t('assistant.serversKept', { count: missing })}</p> : null}
        </div>
      )}
    </div>
  );
}
