import type { Assistant } from '@homeport/contracts/assistants';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { MessageSquarePlus } from 'lucide-react';
import { useClientSession } from '../conversation/client-session.ts';
import { useText } from '../i18n/i18n.ts';
import { AssistantPicture } from '../layout/records/assistant-picture.tsx';
import { projectsQuery } from '../layout/records/projects-api.ts';
import classes from './assistants.module.css';

/** One assistant of the gallery: its description and a button that starts a conversation. */
export function AssistantCard({ assistant }: { assistant: Assistant }) {
  const t = useText();
  const { id, name, icon, description, canEdit } = assistant;
  const facts = useFacts(assistant);
  return (
    <li className={classes.card}>
      <div className={classes.cardHead}>
        <AssistantPicture icon={icon} name={name} size="medium" />
        <div className={classes.cardWords}>
          <h3 className={classes.cardName}>
            <bdi>{name}</bdi>
          </h3>
          <ul className={classes.facts}>
            {facts.map((fact) => (
              <li key={fact}>{fact}</li>
            ))}
          </ul>
        </div>
      </div>
      <p className={classes.description}>{description}</p>
      <div className={classes.cardActions}>
        <Button
          size="compact-sm"
          renderRoot={(props) => <Link {...props} to="/" search={{ assistant: id }} />}
          leftSection={<MessageSquarePlus size={14} aria-hidden />}
          aria-label={t('assistants.startNamed', { name })}
        >
          {t('assistants.start')}
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          renderRoot={(props) => <Link {...props} to="/assistants/$assistantId" params={{ assistantId: id }} />}
          aria-label={t(canEdit ? 'assistants.editNamed' : 'assistants.detailsNamed', { name })}
        >
          {t(canEdit ? 'assistants.edit' : 'assistants.details')}
        </Button>
      </div>
    </li>
  );
}

/** The assistant's author and audience, and missing tools and files. */
function useFacts({ ownerId, ownerName, audience, projectId, missing }: Assistant): string[] {
  const t = useText();
  const { user } = useClientSession();
  const { data } = useQuery(projectsQuery(false));
  const project = data?.find(({ id }) => id === projectId)?.name;
  return [
    ...(ownerId === user.id ? [] : [t('assistants.by', { name: ownerName })]),
    ...(audience === 'me' ? [t('assistants.private')] : []),
    ...(audience === 'everyone' ? [t('assistants.forEveryone')] : []),
    ...(project === undefined ? [] : [t('assistants.inProject', { name: project })]),
    ...(missing.model ? [t('assistants.missingModel')] : []),
    ...(missing.mcpServers > 0 ? [t('assistants.missingServers', { count: missing.mcpServers })] : []),
  ];
}
