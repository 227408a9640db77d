import 'virtual:texts/workspace';
import type { WorkspaceProcess } from '@homeport/contracts/workspace/workspace';
import { Button, UnstyledButton } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Activity, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { FormFailure } from '../forms/notice.tsx';
import { failureText } from '../i18n/failure-text.ts';
import { dateLocale } from '../i18n/format-locale.ts';
import { useText } from '../i18n/i18n.ts';
import { showFailure } from '../layout/toasts.tsx';
import classes from './processes.module.css';
import { Block } from './tool-details.tsx';
import placeClasses from './workspace.module.css';

/** Milliseconds between two looks. */
const ask = { list: 3_000, output: 1_500 };

const processesQuery = queryOptions({
  queryKey: ['workspace', 'processes'],
  queryFn: ({ signal }) => call('GET /api/workspace/processes', { signal }),
  staleTime: 0,
  refetchInterval: ask.list,
});

/** Background processes of models, each with its output and exit state. */
export function ProcessesView() {
  const t = useText();
  const { data, error } = useQuery(processesQuery);
  if (data === undefined) {
    return error ? <FormFailure failure={error} /> : <div className={placeClasses.place} aria-busy="true" />;
  }
  if (data.processes.length === 0) {
    return (
      <div className={placeClasses.place}>
        <Activity size={28} aria-hidden />
        <h2 className={placeClasses.placeTitle}>{t('workspace.noProcesses')}</h2>
        <p>{t('workspace.noProcessesHint')}</p>
      </div>
    );
  }
  return (
    <ul className={classes.list} aria-label={t('workspace.processList')}>
      {data.processes.map((process) => (
        <Row key={process.id} process={process} isOpenAtFirst={data.processes.length === 1} />
      ))}
    </ul>
  );
}

function Row({ process, isOpenAtFirst }: { process: WorkspaceProcess; isOpenAtFirst: boolean }) {
  const t = useText();
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const { id, command, running } = process;
  const stopping = useMutation({
    mutationFn: () => call('DELETE /api/workspace/processes', { query: { id } }),
    onError: (error) => showFailure(t('workspace.stopProcessFailed'), failureText(error, t)),
    onSettled: () => queries.invalidateQueries({ queryKey: processesQuery.queryKey }),
  });
  const name = firstLine(command);
  return (
    <li className={classes.process}>
      <div className={classes.head}>
        <UnstyledButton className={classes.opener} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <ChevronRight size={15} aria-hidden />
          <span className={classes.command} title={command} dir="ltr">
            {name}
          </span>
          <span className={classes.state} data-running={running || undefined}>
            {stateText(process, t)}
          </span>
        </UnstyledButton>
        {running ? (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={t('workspace.stopProcess', { command: name })}
            loading={stopping.isPending}
            onClick={() => stopping.mutate()}
          >
            {t('workspace.stopShort')}
          </Button>
        ) : null}
      </div>
      {isOpen ? <Output process={process} /> : null}
    </li>
  );
}

/** The end of the output, which grows while the command runs. */
function Output({ process: { id, running, logPath, outputBytes } }: { process: WorkspaceProcess }) {
  const t = useText();
  const { data, error } = useQuery({
    // Fetched once more after the end for the last output.
    queryKey: ['workspace', 'processes', id, running ? 'live' : outputBytes],
    queryFn: ({ signal }) => call('GET /api/workspace/processes/output', { query: { id }, signal }),
    staleTime: 0,
    placeholderData: (before) => before,
    refetchInterval: running ? ask.output : false,
  });
  if (data === undefined) return error ? <FormFailure failure={error} /> : <div className={classes.bone} aria-busy />;
  return (
    <div className={classes.output}>
      <Block
        label={t('workspace.toolOutput')}
        text={data.output === '' ? t('workspace.toolNoOutput') : data.output}
        isGrowing
      />
      <p className={classes.quiet}>{t('workspace.processLog', { path: logPath })}</p>
    </div>
  );
}

function firstLine(command: string): string {
  return command.trim().split('\n', 1)[0] ?? '';
}

function stateText({ running, startedAt, exitCode, signal }: WorkspaceProcess, t: ReturnType<typeof useText>): string {
  if (!running) {
    return signal === null ? t('workspace.toolExit', { code: exitCode ?? 0 }) : t('workspace.toolKilled', { signal });
  }
  const time = new Intl.DateTimeFormat(dateLocale(), { timeStyle: 'short' }).format(new Date(startedAt));
  return t('workspace.processSince', { time });
}
