import 'virtual:texts/projects';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Folder } from 'lucide-react';
import { useText } from '../i18n/i18n.ts';
import { projectsQuery } from '../layout/records/projects-api.ts';
import classes from './project-link.module.css';

/** A link to the conversation's project; nothing until the project is known. */
export function ProjectLink({ projectId }: { projectId: string }) {
  const t = useText();
  const active = useQuery(projectsQuery(false)).data;
  const archived = useQuery({ ...projectsQuery(true), enabled: active !== undefined }).data;
  const project = [...(active ?? []), ...(archived ?? [])].find(({ id }) => id === projectId);
  if (!project) return null;
  return (
    <Link
      to="/p/$projectId"
      params={{ projectId }}
      className={classes.link}
      title={t('projects.inProject', { name: project.name })}
    >
      <Folder size={14} aria-hidden />
      <span className="visually-hidden">{t('projects.title')}: </span>
      <bdi>{project.name}</bdi>
    </Link>
  );
}
