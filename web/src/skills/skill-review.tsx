import '../layout/dialogs/dialogs.css';
import type { Skill, SkillFile } from '@homeport/contracts/skills';
import { Button, Modal } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { ShieldCheck, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { Loading } from '../catalogue/catalogue-view.tsx';
import { useClientSession } from '../conversation/client-session.ts';
import { formatSize } from '../files/preview/file-look.ts';
import formClasses from '../forms/form.module.css';
import { FormFailure, Notice } from '../forms/notice.tsx';
import { i18n, useText } from '../i18n/i18n.ts';
import { useReturnFocus } from '../layout/dialogs/use-return-focus.ts';
import { showToast } from '../layout/toasts.tsx';
import { ShownText } from '../mcp/shown-text.tsx';
import { countHidden } from '../mcp/visible-text.ts';
import classes from './skills.module.css';
import { skillFilesQuery } from './skills-api.ts';

/**
 * Shows every file of a skill, and offers to trust exactly these: the request has the fingerprint of what was shown.
 */
export function SkillReview({ skill: { id, name }, onClose }: { skill: Skill; onClose: () => void }) {
  const t = useText();
  useReturnFocus();
  const queries = useQueryClient();
  const query = useQuery(skillFilesQuery(id));
  const [failure, setFailure] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const [hasMoved, setMoved] = useState(false);
  const trust = async (fingerprint: string | null) => {
    setBusy(true);
    setFailure(undefined);
    try {
      await call('POST /api/skills/trust', { body: { id, fingerprint } });
      showToast(t(fingerprint === null ? 'skills.stopped' : 'skills.trusted', { name }));
      onClose();
      await queries.invalidateQueries({ queryKey: ['skills'] });
    } catch (error) {
      if (error instanceof ApiFailure && error.code === 'skill_changed') {
        setMoved(true);
        await query.refetch();
      } else setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  const shown = query.data;
  return (
    <Modal opened onClose={onClose} title={t('skills.reviewTitle', { name })} size="56rem">
      <div className={classes.review}>
        {hasMoved ? (
          <Notice kind="warning" title={t('skills.movedTitle')}>
            {t('skills.movedText')}
          </Notice>
        ) : null}
        {query.error ? <FormFailure failure={query.error} /> : null}
        {shown || query.error ? null : <Loading />}
        {shown ? <Files {...shown} /> : null}
        <FormFailure failure={failure} />
        {shown ? <End skill={shown.skill} isBusy={isBusy} onTrust={trust} onClose={onClose} /> : null}
      </div>
    </Modal>
  );
}

function Files({ skill, files, removed }: { skill: Skill; files: readonly SkillFile[]; removed: readonly string[] }) {
  const t = useText();
  const { user } = useClientSession();
  const isOwn = skill.ownerId === user.id && skill.trust === 'trusted';
  const leads = { new: 'skills.readLead', changed: 'skills.changedLead', trusted: 'skills.ownLead' } as const;
  return (
    <>
      <p className={classes.lead}>{t(leads[skill.trust])}</p>
      {removed.length === 0 ? null : (
        <p className={classes.lead}>
          {t('skills.removedFiles', { names: new Intl.ListFormat(i18n.locale).format(removed) })}
        </p>
      )}
      {files.map((file) => (
        <OneFile
          key={file.path}
          file={file}
          isOpen={skill.trust === 'changed' ? file.change !== 'same' : !isOwn || file.path === 'SKILL.md'}
        />
      ))}
    </>
  );
}

function OneFile({ file, isOpen }: { file: SkillFile; isOpen: boolean }) {
  const t = useText();
  const { path, text, change } = file;
  const hidden = countHidden(path) + countHidden(text ?? '');
  return (
    <details className={classes.file} open={isOpen || hidden > 0}>
      <summary className={classes.fileHead}>
        <code>
          <ShownText text={path} />
        </code>
        {change === 'same' ? null : (
          <span className={classes.state} data-state="changed">
            {t(`skills.${change}.mark`)}
          </span>
        )}
        <span className={classes.facts}>{formatSize(file.bytes)}</span>
        {hidden === 0 ? null : (
          <span className={classes.hidden}>
            <TriangleAlert size={13} aria-hidden /> {t('skills.hidden', { count: hidden })}
          </span>
        )}
      </summary>
      {text === null ? (
        <p className={classes.sum}>{t('skills.notText', { sum: file.sha256 })}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long file is scrolled with the keyboard
        <section className={classes.content} tabIndex={0} aria-label={path}>
          <ShownText text={text} />
        </section>
      )}
    </details>
  );
}

type EndProps = {
  skill: Skill;
  isBusy: boolean;
  onTrust: (fingerprint: string | null) => Promise<void>;
  onClose: () => void;
};

function End({ skill: { trust, fingerprint }, isBusy, onTrust, onClose }: EndProps) {
  const t = useText();
  const isTrusted = trust === 'trusted';
  const tell = (next: string | null) => {
    if (!isBusy) void onTrust(next);
  };
  return (
    <div className={classes.end}>
      <p className={classes.sum}>
        {t('skills.fingerprint')} <code>{fingerprint}</code>
      </p>
      <div className={formClasses.actions}>
        <Button variant="default" onClick={onClose}>
          {t('app.close')}
        </Button>
        {isTrusted ? (
          <Button variant="default" aria-disabled={isBusy} onClick={() => tell(null)}>
            {t('skills.stop')}
          </Button>
        ) : (
          <Button
            leftSection={<ShieldCheck size={16} aria-hidden />}
            aria-disabled={isBusy}
            onClick={() => tell(fingerprint)}
          >
            {t(isBusy ? 'skills.trusting' : 'skills.trust')}
          </Button>
        )}
      </div>
    </div>
  );
}
