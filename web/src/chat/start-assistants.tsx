import 'virtual:texts/context';
import { UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useClientSession } from '../conversation/client-session.ts';
import { useText } from '../i18n/i18n.ts';
import { AssistantPicture } from '../layout/records/assistant-picture.tsx';
import { assistantListQuery, assistantQuery } from '../layout/records/assistant-queries.ts';
import classes from './start-assistants.module.css';

const shownMax = 6;

const ideas = ['summary', 'mail', 'explain', 'plan'] as const;

/** Suggestions for a new conversation: the starters of its assistant, or ideas and assistants. */
export function StartAssistants({ assistantId, draftName }: { assistantId: string | undefined; draftName: string }) {
  return (
    <div className={classes.start}>
      {assistantId === undefined ? (
        <>
          <Ideas draftName={draftName} />
          <Gallery />
        </>
      ) : (
        <Starters assistantId={assistantId} draftName={draftName} />
      )}
    </div>
  );
}

/** Beginnings of messages. One goes before the text that is written already. */
function Ideas({ draftName }: { draftName: string }) {
  const t = useText();
  const { drafts } = useClientSession();
  const begin = (text: string) => {
    drafts.replace(draftName, `${text}${drafts.read(draftName)}`);
    focusComposer();
  };
  return (
    <section aria-label={t('suggest.start')}>
      <ul className={classes.starters}>
        {ideas.map((idea) => (
          <li key={idea}>
            <UnstyledButton className={classes.starter} onClick={() => begin(t(`suggest.start.${idea}Text`))}>
              {t(`suggest.start.${idea}`)}
            </UnstyledButton>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Gallery() {
  const t = useText();
  const navigate = useNavigate();
  const { data } = useQuery(assistantListQuery(''));
  const assistants = data?.items.slice(0, shownMax) ?? [];
  if (assistants.length === 0) return null;
  const choose = (assistant: string) => {
    focusComposer();
    void navigate({ to: '/', search: (search) => ({ ...search, assistant }), replace: true });
  };
  return (
    <section aria-label={t('suggest.assistants')}>
      <ul className={classes.gallery}>
        {assistants.map(({ id, icon, name, description }) => (
          <li key={id}>
            <UnstyledButton className={classes.card} onClick={() => choose(id)}>
              <AssistantPicture icon={icon} name={name} />
              <span className={classes.words}>
                <bdi className={classes.name}>{name}</bdi>
                {description === '' ? null : <span className={classes.detail}>{description}</span>}
              </span>
            </UnstyledButton>
          </li>
        ))}
      </ul>
      <p className={classes.all}>
        <Link to="/assistants">{t('suggest.allAssistants')}</Link>
      </p>
    </section>
  );
}

function Starters({ assistantId, draftName }: { assistantId: string; draftName: string }) {
  const t = useText();
  const { drafts } = useClientSession();
  const { data } = useQuery(assistantQuery(assistantId));
  if (!data) return null;
  const begin = (text: string) => {
    drafts.replace(draftName, text);
    focusComposer();
  };
  return (
    <section aria-label={t('suggest.starters')}>
      {data.description === '' ? null : <p className={classes.about}>{data.description}</p>}
      <ul className={classes.starters}>
        {data.starters.map((text) => (
          <li key={text}>
            <UnstyledButton className={classes.starter} onClick={() => begin(text)}>
              {text}
            </UnstyledButton>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Puts the cursor at the end of the message, once the text is there. */
function focusComposer(): void {
  requestAnimationFrame(() => {
    const field = document.querySelector<HTMLTextAreaElement>('textarea[data-composer]');
    field?.focus();
    field?.setSelectionRange(field.value.length, field.value.length);
  });
}
