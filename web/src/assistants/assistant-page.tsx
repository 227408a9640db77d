import 'virtual:texts/instructions';
import 'virtual:texts/projects';
import 'virtual:texts/pages';
import 'virtual:texts/assistants';
import type { Assistant } from '@homeport/contracts/assistants';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { ArrowLeft, MessageSquarePlus } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { Loading } from '../catalogue/catalogue-view.tsx';
import { FilePanel } from '../files/file-panel.tsx';
import { FormFailure } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { ShownInstructions } from '../instructions/instructions-field.tsx';
import { MessagePage } from '../layout/message-page.tsx';
import { AssistantPicture } from '../layout/records/assistant-picture.tsx';
import { assistantQuery } from '../layout/records/assistant-queries.ts';
import { Card, Section } from '../layout/section.tsx';
import { AssistantEditor } from './assistant-editor.tsx';
import { AssistantMenu } from './assistant-menu.tsx';
import classes from './assistants.module.css';
import { ChosenFiles } from './chosen-files.tsx';
import { handOverFiles } from './handed-over-files.ts';
import { KnowledgeCard } from './knowledge-card.tsx';
import { MissingParts } from './missing-parts.tsx';

/** `/assistants/<id>` and `/assistants/new` */
export function AssistantPage() {
  const t = useText();
  const { assistantId } = useParams({ from: '/signed-in/assistants/$assistantId' });
  const isNew = assistantId === 'new';
  const { data, error } = useQuery({ ...assistantQuery(assistantId), enabled: !isNew });
  const [chosen, setChosen] = useState<readonly File[]>([]);
  if (isNew) {
    return (
      <Page isWide>
        <Section title={t('assistant.newTitle')} text={t('assistant.newText')}>
          <AssistantEditor
            assistant={undefined}
            onDirty={() => {}}
            knowledge={<ChosenFiles files={chosen} onChange={setChosen} />}
            isCramped={false}
            onCreated={(id) => handOverFiles(id, chosen)}
          />
        </Section>
      </Page>
    );
  }
  if (data === null) {
    return (
      <MessagePage title={t('assistant.missingTitle')} action={<BackButton />}>
        {t('assistant.missingText')}
      </MessagePage>
    );
  }
  return (
    <Page isWide={data?.canEdit ?? false} assistant={data}>
      {data ? <Loaded key={data.id} assistant={data} /> : null}
      {error && !data ? <FormFailure failure={error} /> : null}
      {data || error ? null : <Loading />}
    </Page>
  );
}

type PageProps = { isWide: boolean; assistant?: Assistant | undefined; children: ReactNode };

/** The page, and beside it the file that is open. */
function Page({ isWide, assistant, children }: PageProps) {
  const t = useText();
  const { file, show } = useOpenFile();
  return (
    <div className={classes.split}>
      <main id="content" tabIndex={-1} className={classes.page}>
        <div className={classes.column} data-width={isWide ? 'wide' : 'narrow'}>
          <Link to="/assistants" className={classes.back}>
            <ArrowLeft size={15} aria-hidden />
            {t('assistant.back')}
          </Link>
          {children}
        </div>
      </main>
      {assistant && file !== undefined ? <OpenFile assistant={assistant} file={file} onFile={show} /> : null}
    </div>
  );
}

type OpenFileProps = { assistant: Assistant; file: string; onFile: (id: string | undefined) => void };

function OpenFile({ assistant: { id, canEdit }, file, onFile }: OpenFileProps) {
  const scope = useMemo(() => ({ assistantId: id }), [id]);
  return (
    <FilePanel scope={scope} fileId={file} canUpload={canEdit} onFile={onFile} onClose={() => onFile(undefined)} />
  );
}

/** The file in the address. */
function useOpenFile() {
  const navigate = useNavigate();
  const { assistantId } = useParams({ from: '/signed-in/assistants/$assistantId' });
  const { file } = useSearch({ from: '/signed-in/assistants/$assistantId' });
  const show = (next: string | undefined) =>
    void navigate({
      to: '/assistants/$assistantId',
      params: { assistantId },
      search: next === undefined ? {} : { file: next },
      resetScroll: false,
      ignoreBlocker: true,
    });
  return { file, show };
}

function Loaded({ assistant }: { assistant: Assistant }) {
  const t = useText();
  const { file, show } = useOpenFile();
  const { id, name, canEdit, ownerName, missing } = assistant;
  const [isDirty, setDirty] = useState(false);
  // A restored version is loaded into a new form; changes by others are not.
  const [loaded, setLoaded] = useState(assistant);
  const start = (
    <div className={classes.actions}>
      <Button
        renderRoot={(props) => <Link {...props} to="/" search={{ assistant: id }} />}
        variant={canEdit ? 'default' : 'filled'}
        leftSection={<MessageSquarePlus size={16} aria-hidden />}
      >
        {t('assistants.start')}
      </Button>
      {canEdit ? <AssistantMenu assistant={assistant} isDirty={isDirty} onRestored={setLoaded} /> : null}
    </div>
  );
  const knowledge = <KnowledgeCard assistant={assistant} onOpen={show} />;
  return (
    <Section
      title={name}
      text={canEdit ? t('assistant.editText') : t('assistant.viewText', { name: ownerName })}
      action={start}
    >
      <MissingParts missing={missing} />
      {canEdit ? (
        <AssistantEditor
          key={loaded.version}
          assistant={loaded}
          onDirty={setDirty}
          knowledge={knowledge}
          isCramped={file !== undefined}
        />
      ) : (
        <>
          <AssistantView assistant={assistant} />
          {assistant.fileCount > 0 ? knowledge : null}
        </>
      )}
    </Section>
  );
}

/** Read-only view of an assistant. */
function AssistantView({ assistant }: { assistant: Assistant }) {
  const t = useText();
  const { name, icon, description, instructions, starters } = assistant;
  return (
    <>
      <div className={classes.intro}>
        <AssistantPicture icon={icon} name={name} size="large" />
        {description ? <p>{description}</p> : null}
      </div>
      <Card title={t('assistant.instructions')}>
        {instructions === null ? (
          <p className={classes.hint}>{t('assistant.noInstructions')}</p>
        ) : (
          <ShownInstructions text={instructions} />
        )}
      </Card>
      {starters.length > 0 ? (
        <Card title={t('assistant.starters')}>
          <ul className={classes.shownStarters}>
            {starters.map((starter) => (
              <li key={starter}>{starter}</li>
            ))}
          </ul>
        </Card>
      ) : null}
    </>
  );
}

function BackButton() {
  const t = useText();
  return (
    <Button component={Link} to="/assistants" variant="default">
      {t('assistant.back')}
    </Button>
  );
}
