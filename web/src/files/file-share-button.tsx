import 'virtual:texts/shares';
import type { Artifact } from '@homeport/contracts/files/artifacts';
import { Button } from '@mantine/core';
import { Share2 } from 'lucide-react';
import { useState } from 'react';
import { useText } from '../i18n/i18n.ts';
import { lazyComponent } from '../layout/lazy-component.tsx';

const ShareDialog = lazyComponent(async () => (await import('../layout/dialogs/share-dialog.tsx')).ShareDialog);

/** Opens the dialog that makes a link to a file. */
export function FileShareButton({ file }: { file: Artifact }) {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="xs" variant="default" leftSection={<Share2 size={15} aria-hidden />} onClick={() => setOpen(true)}>
        {t('share.menu')}
      </Button>
      {isOpen ? (
        <ShareDialog title={file.filename} source={{ artifactId: file.id }} onClose={() => setOpen(false)} />
      ) : null}
    </>
  );
}
