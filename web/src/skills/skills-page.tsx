import 'virtual:texts/instructions';
import 'virtual:texts/projects';
import 'virtual:texts/pages';
import 'virtual:texts/assistants';
import 'virtual:texts/mcp';
import 'virtual:texts/skills';
import type { Skill } from '@homeport/contracts/skills';
import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Loading } from '../catalogue/catalogue-view.tsx';
import { useClientSession } from '../conversation/client-session.ts';
import { FormFailure, Notice } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { FormDialog } from '../layout/dialogs/form-dialog.tsx';
import { MoreButton } from '../layout/more-button.tsx';
import { Card, EmptyState, Section } from '../layout/section.tsx';
import { ShippedSkills } from './shipped-skills.tsx';
import { SkillForm } from './skill-form.tsx';
import { SkillReview } from './skill-review.tsx';
import { SkillRow } from './skill-row.tsx';
import classes from './skills.module.css';
import { skillsQuery } from './skills-api.ts';

type Dialog = { kind: 'add'; path?: string } | { kind: 'replace' | 'review'; skill: Skill };

/** `/settings/skills`: the available skills; those of other people are reviewed here before their first use. */
export function SkillsPage() {
  const t = useText();
  const { user } = useClientSession();
  const [dialog, setDialog] = useState<Dialog>();
  const query = useInfiniteQuery(skillsQuery);
  const skills = query.data?.pages.flatMap((page) => page.skills) ?? [];
  const shipped = query.data?.pages[0]?.shipped ?? [];
  const inWorkspace = query.data?.pages[0]?.workspace ?? [];
  const waiting = skills.filter(({ trust, enabled }) => enabled && trust !== 'trusted').length;
  const isEmpty = query.data !== undefined && skills.length === 0;
  const close = () => setDialog(undefined);
  const add = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setDialog({ kind: 'add' })}>
      {t('skills.add')}
    </Button>
  );
  return (
    <Section title={t('settings.skills')} text={t('skills.text')} action={isEmpty ? undefined : add}>
      {waiting === 0 ? null : (
        <Notice kind="warning" title={t('skills.waitingTitle', { count: waiting })}>
          {t('skills.waitingText')}
        </Notice>
      )}
      {query.error ? <FormFailure failure={query.error} /> : null}
      {query.data || query.error ? null : <Loading />}
      {skills.length === 0 ? null : (
        <ul className={classes.list} aria-label={t('settings.skills')}>
          {skills.map((skill) => (
            <SkillRow
              key={skill.id}
              skill={skill}
              isOwn={skill.ownerId === user.id}
              onLook={() => setDialog({ kind: 'review', skill })}
              onReplace={() => setDialog({ kind: 'replace', skill })}
            />
          ))}
        </ul>
      )}
      <MoreButton query={query} />
      {isEmpty ? <EmptyState title={t('skills.emptyTitle')} text={t('skills.emptyText')} action={add} /> : null}
      {inWorkspace.length === 0 ? null : (
        <Card title={t('skills.workspaceTitle')} text={t('skills.workspaceText')}>
          <ul className={classes.list}>
            {inWorkspace.map(({ name, description, path }) => (
              <li key={path} className={classes.row}>
                <div className={classes.about}>
                  <p className={classes.name}>
                    <code>/{name}</code>
                  </p>
                  <p className={classes.description}>{description}</p>
                </div>
                <Button
                  variant="default"
                  size="compact-sm"
                  aria-label={t('skills.addNamed', { name })}
                  onClick={() => setDialog({ kind: 'add', path })}
                >
                  {t('skills.add')}
                </Button>
              </li>
            ))}
          </ul>
        </Card>
      )}
      {shipped.length === 0 ? null : <ShippedSkills skills={shipped} />}
      {dialog?.kind === 'add' || dialog?.kind === 'replace' ? (
        <FormDialog
          title={dialog.kind === 'add' ? t('skills.addTitle') : t('skills.replaceTitle', { name: dialog.skill.name })}
          onClose={close}
        >
          {({ onDirty, cancel }) => (
            <SkillForm
              replaced={dialog.kind === 'replace' ? dialog.skill : undefined}
              inWorkspace={inWorkspace}
              path={dialog.kind === 'add' ? dialog.path : undefined}
              onSaved={close}
              onDirty={onDirty}
              beside={cancel}
            />
          )}
        </FormDialog>
      ) : null}
      {dialog?.kind === 'review' ? <SkillReview skill={dialog.skill} onClose={close} /> : null}
    </Section>
  );
}
