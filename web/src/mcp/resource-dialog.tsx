import 'virtual:texts/mcp';
import '../forms/forms.css';
import '../layout/dialogs/dialogs.css';
import type { McpContent, McpResource } from '@homeport/contracts/mcp/content';
import type { McpServer } from '@homeport/contracts/mcp/mcp';
import { Button, Modal, NativeSelect, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { FileText } from 'lucide-react';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { Loading } from '../catalogue/catalogue-view.tsx';
import formClasses from '../forms/form.module.css';
import { FormFailure } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { markSource } from '../incoming-files.ts';
import { useReturnFocus } from '../layout/dialogs/use-return-focus.ts';
import mcpClasses from './mcp.module.css';
import classes from './offers/offers.module.css';
import { type FilledTemplate, fillTemplate, templateNames } from './uri-template.ts';

type Props = { servers: readonly McpServer[]; onFiles: (files: File[]) => void; onClose: () => void };

const shownMax = 100;

/** Chooses a resource of a trusted server; its content is attached like a file. */
export function ResourceDialog({ servers, onFiles, onClose }: Props) {
  const t = useText();
  useReturnFocus();
  const [serverId, setServerId] = useState(servers[0]?.id ?? '');
  const [sought, setSought] = useState('');
  const [failure, setFailure] = useState<unknown>();
  const [reading, setReading] = useState<string>();
  const { data, error } = useQuery({
    queryKey: ['mcp', 'resources', serverId],
    queryFn: ({ signal }) => call('GET /api/mcp/resources', { query: { id: serverId }, signal }),
    retry: false,
  });
  const server = servers.find(({ id }) => id === serverId);
  const read = async (uri: string) => {
    if (reading !== undefined) return;
    setReading(uri);
    setFailure(undefined);
    try {
      const { contents } = await call('POST /api/mcp/resources', { body: { id: serverId, uri } });
      onFiles(contents.map((content) => fileOf(content, t('mcp.resourceSource', { name: server?.name ?? '', uri }))));
      onClose();
    } catch (problem) {
      setFailure(problem);
      setReading(undefined);
    }
  };
  const found = (data?.resources ?? []).filter((resource) => matches(resource, sought));
  const templates = data?.templates ?? [];
  return (
    <Modal opened onClose={onClose} title={t('mcp.resourceTitle')} size="38rem">
      <div className={formClasses.form}>
        {servers.length > 1 ? (
          <NativeSelect
            label={t('mcp.resourceServer')}
            data={servers.map(({ id, name }) => ({ value: id, label: name }))}
            value={serverId}
            onChange={(event) => setServerId(event.currentTarget.value)}
          />
        ) : null}
        {data || error ? null : <Loading />}
        {(failure ?? error) ? <FormFailure failure={failure ?? error} /> : null}
        {data && data.resources.length + templates.length === 0 ? (
          <p className={mcpClasses.hint}>{t('mcp.resourceNone', { name: server?.name ?? '' })}</p>
        ) : null}
        {data && data.resources.length > 0 ? (
          <>
            <TextInput
              label={t('mcp.resourceSearch')}
              value={sought}
              onChange={(event) => setSought(event.currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
            <ul className={classes.resources} aria-label={t('mcp.resourceList')}>
              {found.slice(0, shownMax).map((resource) => (
                <li key={resource.uri}>
                  <button
                    type="button"
                    className={classes.resource}
                    aria-disabled={reading !== undefined}
                    onClick={() => void read(resource.uri)}
                  >
                    <FileText size={16} aria-hidden />
                    <span className={classes.offerAbout}>
                      <bdi className={classes.offerName}>{resource.title ?? resource.name}</bdi>
                      <span className={classes.resourceUri}>{resource.uri}</span>
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          </>
        ) : null}
        {templates.map((template) => (
          <Template
            key={template.uriTemplate}
            template={template.uriTemplate}
            label={template.title ?? template.name}
            isBusy={reading !== undefined}
            onRead={(uri) => void read(uri)}
          />
        ))}
        <p role="status" className={mcpClasses.hint}>
          {reading === undefined ? t('mcp.resourceHint') : t('mcp.resourceReading')}
        </p>
      </div>
    </Modal>
  );
}

type TemplateProps = { template: string; label: string; isBusy: boolean; onRead: (uri: string) => void };

/** An address with gaps that the person fills. */
function Template({ template, label, isBusy, onRead }: TemplateProps) {
  const t = useText();
  const [values, setValues] = useState<FilledTemplate>({});
  const names = templateNames(template);
  const uri = fillTemplate(template, values);
  return (
    <fieldset className={classes.template}>
      <legend>
        <bdi>{label}</bdi>
      </legend>
      {names.map((name) => (
        <TextInput
          key={name}
          label={name}
          value={values[name] ?? ''}
          onChange={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
          autoComplete="off"
          spellCheck={false}
        />
      ))}
      <Button
        size="compact-sm"
        variant="default"
        disabled={uri === undefined || isBusy}
        onClick={() => uri && onRead(uri)}
      >
        {t('mcp.resourceAttach')}
        <span className="visually-hidden"> {label}</span>
      </Button>
    </fieldset>
  );
}

function matches({ name, title, description, uri }: McpResource, sought: string): boolean {
  const words = [name, title, description, uri].join(' ').toLocaleLowerCase();
  return words.includes(sought.trim().toLocaleLowerCase());
}

function fileOf({ filename, mediaType, text, data }: McpContent, source: string): File {
  const bytes = text ?? Uint8Array.from(atob(data ?? ''), (letter) => letter.charCodeAt(0));
  return markSource(new File([bytes], filename, { type: mediaType }), source);
}
