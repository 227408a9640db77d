import type { Artifact, ArtifactVersion } from '@homeport/contracts/files/artifacts';
import { Button, Menu } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Check, ChevronDown } from 'lucide-react';
import { call } from '../api/api.ts';
import type { FileScope } from '../api/upload.ts';
import { Notice } from '../forms/notice.tsx';
import { failureText } from '../i18n/failure-text.ts';
import { dateLocale } from '../i18n/format-locale.ts';
import { useText } from '../i18n/i18n.ts';
import { showFailure, showToast } from '../layout/toasts.tsx';
import { scopeQuery } from './file-address.ts';
import classes from './files.module.css';
import { filesKey, versionsQuery } from './files-api.ts';

/** The versions of a file to choose from; nothing for a file that was never replaced. */
export function VersionMenu({
  scope,
  file,
  shown,
  onChoose,
}: {
  scope: FileScope;
  file: Artifact;
  shown: number;
  /** Undefined: the present one. */
  onChoose: (version: ArtifactVersion | undefined) => void;
}) {
  const t = useText();
  const { data: versions } = useQuery({ ...versionsQuery(scope, file), enabled: file.version > 1 });
  if (file.version === 1) return null;
  const dates = new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'medium', timeStyle: 'short' });
  return (
    <Menu position="bottom-start" width={250}>
      <Menu.Target>
        <Button size="xs" variant="default" rightSection={<ChevronDown size={14} aria-hidden />}>
          {t('files.version', { version: shown })}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah="min(24rem, 60dvh)" className={classes.versions}>
        {(versions ?? []).map((each) => (
          <Menu.Item
            key={each.version}
            aria-current={each.version === shown || undefined}
            rightSection={each.version === shown ? <Check size={14} aria-hidden /> : null}
            onClick={() => onChoose(each.isCurrent ? undefined : each)}
          >
            {t(each.isCurrent ? 'files.versionCurrent' : 'files.version', { version: each.version })}
            <span className={classes.versionDate}>{dates.format(new Date(each.createdAt))}</span>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Notice that an earlier version is shown, with a button that restores it. */
export function OlderNotice({
  scope,
  file,
  version,
  onCurrent,
}: {
  scope: FileScope;
  file: Artifact;
  version: ArtifactVersion;
  onCurrent: () => void;
}) {
  const t = useText();
  const queries = useQueryClient();
  const restore = async () => {
    try {
      const body = { ...scopeQuery(scope), id: file.id, version: version.version };
      const { artifact } = await call('POST /api/artifacts/restore', { body });
      showToast(t('files.versionRestored', { version: version.version, now: artifact.version }));
      onCurrent();
    } catch (error) {
      showFailure(t('files.changeFailed'), failureText(error, t));
    }
    await queries.invalidateQueries({ queryKey: filesKey(scope) });
  };
  return (
    <div className={classes.older}>
      <Notice
        kind="info"
        action={
          <div className={classes.olderActions}>
            <Button size="compact-sm" variant="default" onClick={() => void restore()}>
              {t('files.versionRestore')}
            </Button>
            <Button size="compact-sm" variant="default" onClick={onCurrent}>
              {t('files.versionBack')}
            </Button>
          </div>
        }
      >
        {t('files.versionOld', { version: version.version, now: file.version })}
      </Notice>
    </div>
  );
}
