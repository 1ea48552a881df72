import SyncEngine

extension ErrorAnswer {
    /// The error that it is to callers.
    ///
    /// - parameters:
    ///     - address: The bucket.
    ///     - isOfFile: Whether a refusal is about one file: without the right to list a bucket, a missing file is one
    ///       that is refused.
    ///     - now: The time here, in milliseconds since 1970.
    func error(_ address: BucketAddress, isOfFile: Bool, now: Int64) -> any Error {
        let bucket = "bucket \(address.bucket)"
        switch code {
        case "RequestTimeTooSkewed", "RequestExpired": return skew(bucket, now)
        case "InvalidAccessKeyId", "InvalidClientTokenId", "InvalidSecurity", "NotSignedUp":
            return BucketError(
                .credentialsRefused, "\(bucket): the provider does not know the key (\(code))",
                hint: "the key may be another provider's, or have ended")
        case "ExpiredToken", "TokenRefreshRequired":
            return BucketError(
                .credentialsRefused, "\(bucket): the session of the credentials has ended (\(code))",
                hint:
                    "sign in anew with the program that they come from, and take its AWS_SESSION_TOKEN, too",
                // Another program may renew it where it lies.
                mayPass: isOfExpiredCredentials)
        case "InvalidToken":
            return BucketError(
                .credentialsRefused, "\(bucket): the provider refuses the token of the session (\(code))",
                hint: "AWS_SESSION_TOKEN goes with the key that came with it, and with no other")
        case "SignatureDoesNotMatch":
            return BucketError(
                .credentialsRefused, "\(bucket): the provider refuses the signature (\(code))",
                hint:
                    "the secret may be that of another key, or something between here and there changes requests"
            )
        case "NoSuchBucket":
            return BucketError(
                .noSuchBucket, "\(bucket): there is no such bucket at \(address.host)",
                hint: "make it with the tools of the provider, or look at the name and the endpoint")
        case "QuotaExceeded", "XMinioStorageFull", "InsufficientStorage", "EntityTooLarge":
            return MailboxError(.full, "the bucket takes no more (\(code))")
        default: break
        }
        if let error = elsewhere(address, bucket) { return error }
        switch status {
        case 401: return BucketError(.credentialsRefused, "\(bucket): the credentials are refused (\(words))")
        case 403 where isOfFile:
            return MailboxError(.notPermitted, "the bucket refuses it to this user (\(words))")
        case 403:
            return BucketError(
                .accessDenied, "\(bucket): access is denied to this user (\(words))",
                hint: "the user needs the rights to list the bucket, and to get, put and delete files in it")
        case 404: return MailboxError(.missing, "there is no such file")
        case 507: return MailboxError(.full, "the bucket takes no more (\(words))")
        case _ where mayPass:
            return MailboxError(.unreachable, "the bucket does not do its work (\(words))")
        default: return MailboxError(.failed, "the bucket does not do what it was asked for (\(words))")
        }
    }

    private func skew(_ bucket: String, _ now: Int64) -> BucketError {
        var text = "\(bucket): the clock here and the provider's are too far apart (\(code))"
        if let serverMilliseconds {
            let seconds = (now - serverMilliseconds) / 1000
            let minutes = max(1, (abs(seconds) + 30) / 60)
            text =
                "\(bucket): the clock here is \(minutes) min \(seconds < 0 ? "behind" : "ahead of") the provider's"
        }
        return BucketError(
            .clockSkewed, text, hint: "set the clock of this machine; it may be up to 15 minutes off",
            mayPass: true)
    }

    /// The error of a bucket that is not where it was looked for.
    private func elsewhere(_ address: BucketAddress, _ bucket: String) -> BucketError? {
        let isOfRegion = ["AuthorizationHeaderMalformed", "IllegalLocationConstraintException"].contains(code)
        guard (300..<400).contains(status) && status != 304 || isOfRegion else { return nil }
        if let region, region != address.region {
            return BucketError(
                .wrongRegion, "\(bucket) is in the region \(region), and not in \(address.region)",
                hint: "say so: --s3-region \(region)", region: region)
        }
        if isOfRegion {
            return BucketError(
                .wrongRegion, "\(bucket) is not in the region \(address.region) (\(code))",
                hint: "name its region: --s3-region <region>")
        }
        return BucketError(
            .redirected,
            "\(bucket): \(address.host) sends requests elsewhere (\(words)), and no secret goes along",
            hint: "name the endpoint and the region of the bucket: --s3-endpoint, --s3-region")
    }
}
