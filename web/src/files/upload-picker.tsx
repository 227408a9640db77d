import { Button } from '@mantine/core';
import { Upload } from 'lucide-react';
import { useRef } from 'react';

/** Button that chooses files to upload. */
export function UploadPicker({ label, onFiles }: { label: string; onFiles: (files: File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<Upload size={15} aria-hidden />}
        onClick={() => input.current?.click()}
      >
        {label}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        data-upload-picker
        onChange={(event) => {
          onFiles([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }}
      />
    </>
  );
}
