{{- /* Refuses values that cannot work, by their names, before anything reaches the cluster. */ -}}
{{- define "homeport.checks" -}}
{{- $s3 := .Values.artifacts.s3 }}
{{- if not (or $s3.location .Values.artifacts.existingClaim) }}
{{- fail "artifacts.s3.location or artifacts.existingClaim must be given: without it the files of conversations end with the pod" }}
{{- end }}
{{- if and $s3.location (not $s3.existingSecret) }}
{{- fail "artifacts.s3.existingSecret must be given: a Secret with the keys AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" }}
{{- end }}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.metrics.existingSecret) }}
{{- fail "metrics.existingSecret must be given: a Secret with the key METRICS_TOKEN" }}
{{- end }}
{{- $secrets := include "homeport.secrets" . | fromYaml }}
{{- range $name, $value := .Values.settings }}
{{- include "homeport.checkName" (dict "root" $ "name" $name "place" "settings") }}
{{- if hasKey $secrets $name }}{{- fail (printf "settings.%s: it is a secret, of existingSecret or secretSettings" $name) }}{{- end }}
{{- end }}
{{- range $name, $value := .Values.secretSettings }}
{{- include "homeport.checkName" (dict "root" $ "name" $name "place" "secretSettings") }}
{{- end }}
{{- $given := keys .Values.settings $secrets }}
{{- range .Values.extraEnv }}
{{- include "homeport.checkName" (dict "root" $ "name" .name "place" "extraEnv") }}
{{- if has (trimSuffix "_FILE" .name) $given }}{{- fail (printf "extraEnv: %s is given twice" .name) }}{{- end }}
{{- $given = append $given (trimSuffix "_FILE" .name) }}
{{- end }}
{{- range .Values.extraVolumes }}
{{- if has .name (list "data" "tmp" "secrets" "metrics-secret" "artifact-secrets" "artifacts") }}
{{- fail (printf "extraVolumes: the chart has a volume %s of its own" .name) }}
{{- end }}
{{- end }}
{{- include "homeport.checkBackups" (dict "root" . "given" $given) }}
{{- range list "app.kubernetes.io/name" "app.kubernetes.io/instance" }}
{{- if hasKey $.Values.podLabels . }}{{- fail (printf "podLabels: the chart has a value of its own for %s" .) }}{{- end }}
{{- end }}
{{- end -}}

{{- define "homeport.checkName" -}}
{{- $name := trimSuffix "_FILE" .name }}
{{- $own := list "HOST" "PORT" "DATA_DIR" "DRAIN_SECONDS" "BASE_URL" "ARTIFACT_STORE" "METRICS_TOKEN" }}
{{- if ne .place "secretSettings" }}{{- $own = concat $own (list "AUTH_SECRET" "SETTINGS_ENCRYPTION_KEY" "DATABASE_URL") }}{{- end }}
{{- if .root.Values.artifacts.s3.location }}
{{- $own = concat $own (list "AWS_REGION" "AWS_ENDPOINT_URL_S3" "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY") }}
{{- end }}
{{- if or (has $name $own) (regexMatch "^WORKSPACE_(MODE|NAMESPACE|INSTALLATION|IMAGE|PORT|CONTROL_|STORAGE_|MEMORY_MB|CPUS|RUNTIME_CLASS)" $name) }}
{{- fail (printf "%s.%s: the chart has a value of its own for it" .place .name) }}
{{- end }}
{{- end -}}

{{- /* A folder of the pod goes with the pod. extraEnvFrom may have either setting; Homeport itself checks that. */ -}}
{{- define "homeport.checkBackups" -}}
{{- $values := .root.Values }}
{{- $schedule := or (get $values.settings "BACKUP_SCHEDULE") (and (has "BACKUP_SCHEDULE" .given) (not (hasKey $values.settings "BACKUP_SCHEDULE"))) }}
{{- $to := get $values.settings "BACKUP_TO" }}
{{- $elsewhere := or $values.extraEnvFrom (and (has "BACKUP_TO" .given) (not (hasKey $values.settings "BACKUP_TO"))) }}
{{- range $values.extraEnv }}
{{- if and (eq .name "BACKUP_TO") .value }}{{- $to = .value }}{{- end }}
{{- end }}
{{- if and $schedule (not $to) (not $elsewhere) }}
{{- fail "settings.BACKUP_TO must be given with BACKUP_SCHEDULE: s3://bucket/prefix, or a folder of a volume in extraVolumeMounts" }}
{{- end }}
{{- if and $schedule $to (not (hasPrefix "s3://" (lower (toString $to)))) }}
{{- $kept := list }}
{{- if not $values.artifacts.s3.location }}{{- $kept = append $kept "/artifacts" }}{{- end }}
{{- range $values.extraVolumeMounts }}{{- $kept = append $kept (trimSuffix "/" .mountPath) }}{{- end }}
{{- $isKept := false }}
{{- range $kept }}
{{- if hasPrefix (printf "%s/" .) (printf "%s/" (toString $to)) }}{{- $isKept = true }}{{- end }}
{{- end }}
{{- if not $isKept }}
{{- fail (printf "settings.BACKUP_TO is %s, which ends with the pod: it takes s3://bucket/prefix, or a folder of a volume in extraVolumeMounts" (toString $to)) }}
{{- end }}
{{- end }}
{{- end -}}
